// Preloaded into the CLI (NODE_OPTIONS=--require): Date follows the virtual time that the recorder writes to
// the file RECORD_CLOCK (milliseconds), plus the real time that went by since that file last changed.
"use strict";
const fs = require("node:fs");
const RealDate = Date;
let base = 0;
let since = 0;
let newest = 0;

function now() {
  const written = Number(fs.readFileSync(process.env.RECORD_CLOCK, "utf8"));
  if (written && written !== base) {
    base = written;
    since = performance.now();
  }
  newest = Math.max(newest, Math.floor(base + performance.now() - since));
  return newest;
}

globalThis.Date = class Date extends RealDate {
  constructor(...args) {
    super(...(args.length ? args : [now()]));
  }
  static now() {
    return now();
  }
};
