// Asks the real pi packages about many cases in one process: one JSON case a line in, one JSON document a line out.
//
//   PI_MODULES=<node_modules> node driver.mjs [--raw] < cases.ndjson > documents.ndjson
//
// Holds no pi code. A case has the fields of `*.case.json` (docs/compaction.md, "Checking against pi"); `engine` says
// which package answers. Without --raw, texts become {sha256_utf16le, chars}. A case that pi cannot answer at all
// becomes {"crash": "<words>"}.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const scope = join(process.env.PI_MODULES ?? "", "@earendil-works");
const raw = process.argv.includes("--raw");
const importFrom = (name, file) => import(pathToFileURL(join(scope, name, "dist", file)).href);
const versionOf = (name) => JSON.parse(readFileSync(join(scope, name, "package.json"), "utf8")).version;
const digest = (text) =>
	raw ? text : { sha256_utf16le: createHash("sha256").update(Buffer.from(text, "utf16le")).digest("hex"), chars: text.length };

const FILES = {
	"agent-core": {
		name: "pi-agent-core",
		cut: "harness/compaction/compaction.js",
		branch: "harness/compaction/branch-summarization.js",
		messages: "harness/messages.js",
		session: "harness/session/session.js",
		utils: "harness/compaction/utils.js",
	},
	"coding-agent": {
		name: "pi-coding-agent",
		cut: "core/compaction/compaction.js",
		branch: "core/compaction/branch-summarization.js",
		messages: "core/messages.js",
		session: "core/session-manager.js",
		utils: "core/compaction/utils.js",
	},
};
const ai = await importFrom("pi-ai", "index.js");
const loaded = new Map();

async function engineOf(kind) {
	if (!loaded.has(kind)) {
		const { name, ...files } = FILES[kind];
		if (!existsSync(join(scope, name, "dist", files.cut))) throw new Error(`${name} has no ${files.cut}`);
		const modules = {};
		for (const [key, file] of Object.entries(files)) modules[key] = await importFrom(name, file);
		if (kind === "agent-core") modules.storage = await importFrom(name, "harness/session/memory-storage.js");
		loaded.set(kind, { kind, version: versionOf(name), ...modules });
	}
	return loaded.get(kind);
}

const failure = (e) => ({ error: `${e?.name}: ${e?.message}`, ...(e?.code ? { code: e.code } : {}) });
async function attempt(run) {
	try {
		return await run();
	} catch (e) {
		return failure(e);
	}
}
// agent-core answers {ok, value | error}
const opened = (result) => {
	if (result === null || typeof result !== "object" || !("ok" in result)) return result;
	return result.ok ? result.value : { error: `${result.error.name}: ${result.error.message}`, code: result.error.code };
};
const tokensOr = (engine, message) => {
	try {
		return engine.cut.estimateTokens(message);
	} catch (e) {
		return `throws ${e.name}`;
	}
};

function hidden(engine, text) {
	if (raw || typeof text !== "string") return text;
	let shown = text;
	for (const name of ["COMPACTION_SUMMARY_PREFIX", "BRANCH_SUMMARY_PREFIX"]) shown = shown.replaceAll(engine.messages[name], `{{${name}}}`);
	return shown;
}
const serialized = (engine, messages) => hidden(engine, engine.utils.serializeConversation(engine.messages.convertToLlm(messages)));

// Which entry a message comes from, told by what both have in common; the first entry not yet taken wins.
function idsOf(messages, path) {
	const free = new Set(path.map((_, i) => i));
	const shape = (m) => JSON.stringify({ ...m, content: 0 });
	const same = {
		message: (e, m) => e.message === m || (m.role === e.message.role && m.timestamp === e.message.timestamp && shape(m) === shape(e.message)),
		custom_message: (e, m) => m.role === "custom" && m.customType === e.customType && m.timestamp === new Date(e.timestamp).getTime(),
		branch_summary: (e, m) => m.role === "branchSummary" && m.summary === e.summary && m.fromId === e.fromId,
		compaction: (e, m) => m.role === "compactionSummary" && m.summary === e.summary,
	};
	return messages.map((m) => {
		for (let i = 0; i < path.length; i++) {
			if (free.has(i) && same[path[i].type]?.(path[i], m)) {
				for (let k = i; k < path.length; k++) if (path[k].id === path[i].id) free.delete(k);
				return path[i].id;
			}
		}
		return `?${m.role}`;
	});
}

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const STUB_MODEL = { id: "m", name: "m", api: "stub", provider: "p", baseUrl: "", reasoning: false, input: ["text"], contextWindow: 128000, maxTokens: 8192, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } };

// A summarizer that answers from the case's list and notes what it was asked.
function stub(input) {
	const model = { ...STUB_MODEL, ...(input.model ?? {}) };
	const state = { requests: [], events: [], turn: 0 };
	const answer = (context, options) => {
		const reply = input.responses?.[state.turn] ?? { text: `STUB SUMMARY ${state.turn + 1}` };
		state.turn++;
		const talk = context.messages.filter((m) => m.role !== "system");
		const prompt = talk[0].content.map((c) => c.text).join("");
		const { signal: _signal, sessionId, ...rest } = options;
		const shape = ["conversation", "previous-summary"].flatMap((tag) => {
			const [open, close] = [`<${tag}>\n`, `\n</${tag}>`];
			const [start, stop] = [prompt.indexOf(open), prompt.lastIndexOf(close)];
			return start < 0 || stop < 0 ? [] : [{ tag, start, end: stop + close.length, inner: digest(prompt.slice(start + open.length, stop)) }];
		});
		state.requests.push({
			roles: talk.map((m) => m.role),
			contentTypes: talk[0].content.map((c) => c.type),
			systemPrompt: digest(context.systemPrompt ?? context.messages.find((m) => m.role === "system")?.content ?? ""),
			prompt: digest(prompt),
			shape,
			options: rest,
			sessionIdKind: /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(sessionId ?? "") ? "uuidv7" : String(sessionId),
		});
		return {
			role: "assistant",
			content: reply.content ?? [{ type: "text", text: reply.text ?? "" }],
			api: model.api, provider: model.provider, model: model.id,
			usage: reply.usage ?? NO_USAGE,
			stopReason: reply.stopReason ?? "stop",
			...(reply.errorMessage === undefined ? {} : { errorMessage: reply.errorMessage }),
			timestamp: 0,
		};
	};
	const note = (event) => { state.events.push(event); };
	return {
		model, state,
		models: { completeSimple: async (_model, context, options) => answer(context, options) },
		streamFn: async (_model, context, options) => ({ result: async () => answer(context, options) }),
		callbacks: {
			onRetryScheduled: (attempt, max, delayMs, errorMessage) => note({ event: "scheduled", attempt, max, delayMs, errorMessage }),
			onRetryAttemptStart: () => note({ event: "attempt_start" }),
			onRetryFinished: (ok, attempt, err) => note({ event: "finished", ok, attempt, ...(err === undefined ? {} : { err }) }),
		},
	};
}

async function probeMessages(engine, messages) {
	const { cut, messages: m, utils } = engine;
	const out = { messages: messages.map((message) => tokensOr(engine, message)), estimate: await attempt(() => cut.estimateContextTokens(messages)) };
	const sent = await attempt(() => m.convertToLlm(messages));
	out.llm = sent.error ? sent : sent.map((message) => ({ role: message.role, content: raw ? message.content : digest(JSON.stringify(message.content)) }));
	out.serialized = await attempt(() => serialized(engine, messages));
	const ops = utils.createFileOps();
	for (const message of messages) await attempt(() => utils.extractFileOpsFromMessage(message, ops));
	out.fileLists = utils.computeFileLists(ops);
	out.fileText = utils.formatFileOperations(out.fileLists.readFiles, out.fileLists.modifiedFiles);
	return out;
}

async function pathOf(engine, entries, byId, leafId) {
	if (leafId === null) return [];
	if (engine.kind === "agent-core") return await new engine.storage.InMemorySessionStorage({ entries }).getPathToRootOrCompaction(leafId);
	const path = [];
	for (let e = byId.get(leafId); e; e = e.parentId ? byId.get(e.parentId) : undefined) path.unshift(e);
	return path;
}

async function probeSession(engine, input, entries, byId, summarizer) {
	const { cut, session, messages: m } = engine;
	const settings = { ...cut.DEFAULT_COMPACTION_SETTINGS, ...(input.settings ?? {}) };
	const path = await attempt(() => pathOf(engine, entries, byId, input.leafId === undefined ? (entries.at(-1)?.id ?? null) : input.leafId));
	if (path.error) return { path };
	const projected = (e) => (e.type === "message" ? [e.message] : engine.kind === "agent-core" ? session.sessionEntryToContextMessages(e, 0, path) : session.sessionEntryToContextMessages(e));
	const out = {
		settings,
		path: path.map((e) => e.id),
		entryTokens: path.map((e) => [e.id, e.type, projected(e).map((x) => x.role), projected(e).map((x) => tokensOr(engine, x))]),
	};
	const context = await attempt(() => session.buildSessionContext(path));
	if (context.error) out.context = context;
	else {
		const estimate = cut.estimateContextTokens(context.messages);
		out.context = { roles: context.messages.map((x) => x.role), ids: idsOf(context.messages, path), thinkingLevel: context.thinkingLevel, model: context.model, estimate };
		if (cut.estimateProjectedContextTokens) out.context.projectedEstimate = cut.estimateProjectedContextTokens(session.buildSessionProjection(path), path);
		out.shouldCompact = cut.shouldCompact(estimate.tokens, summarizer.model.contextWindow, settings);
	}
	out.lastAssistantUsage = cut.getLastAssistantUsage(path) ?? null;
	out.cutWhole = await attempt(() => cut.findCutPoint(path, 0, path.length, settings.keepRecentTokens));
	if (input.cut) {
		out.cut = [];
		for (const [start, end, keep] of input.cut) out.cut.push(await attempt(() => cut.findCutPoint(path, start, end, keep)));
	}
	const prepared = opened(await attempt(() => cut.prepareCompaction(path, settings)));
	if (!prepared) return { ...out, prepare: null };
	if (prepared.error) return { ...out, prepare: prepared };
	const { read, written, edited } = prepared.fileOps;
	out.prepare = {
		firstKeptEntryId: prepared.firstKeptEntryId,
		firstKeptIndex: path.findIndex((e) => e.id === prepared.firstKeptEntryId),
		isSplitTurn: prepared.isSplitTurn,
		tokensBefore: prepared.tokensBefore,
		previousSummary: prepared.previousSummary ?? null,
		summarized: idsOf(prepared.messagesToSummarize, path),
		turnPrefix: idsOf(prepared.turnPrefixMessages, path),
		...(prepared.retainedTail ? { retainedTail: idsOf(prepared.retainedTail, path) } : {}),
		fileOps: { read: [...read], written: [...written], edited: [...edited] },
		serializedHistory: serialized(engine, prepared.messagesToSummarize),
		serializedPrefix: serialized(engine, prepared.turnPrefixMessages),
	};
	return input.skipCompact ? out : { ...out, ...(await probeCompact(engine, input, path, prepared, summarizer)) };
}

async function probeCompact(engine, input, path, prepared, { model, models, streamFn, callbacks, state }) {
	const { cut, session, messages: m } = engine;
	const focus = input.customInstructions, level = input.thinkingLevel;
	const result = opened(await attempt(() => engine.kind === "agent-core"
		? cut.compact(prepared, models, model, focus, undefined, level, input.retry, callbacks)
		: cut.compact(prepared, model, "key", undefined, focus, undefined, level, streamFn, undefined, input.retry, callbacks)));
	const out = { requests: state.requests.slice(), ...(state.events.length ? { retryEvents: state.events.slice() } : {}) };
	if (result.error) return { ...out, result };
	const { summary, firstKeptEntryId, tokensBefore, usage, details } = result;
	out.result = { summary, firstKeptEntryId, tokensBefore, usage, details };
	const written = { type: "compaction", id: "ffffffff", parentId: path.at(-1).id, timestamp: "2030-01-01T00:00:00.000Z", summary, firstKeptEntryId, tokensBefore, details };
	const longer = [...path, written];
	const context = await attempt(() => session.buildSessionContext(longer));
	if (context.error) return out;
	out.after = {
		roles: context.messages.map((x) => x.role),
		ids: idsOf(context.messages, longer),
		estimate: cut.estimateContextTokens(context.messages),
		llm: m.convertToLlm(context.messages).map((x) => [x.role, digest(typeof x.content === "string" ? x.content : JSON.stringify(x.content))]),
	};
	if (cut.estimateProjectedContextTokens) out.after.projectedEstimate = cut.estimateProjectedContextTokens(session.buildSessionProjection(longer), longer);
	return out;
}

async function probeBranch(engine, input, byId, summarizer) {
	const { state, model, models, streamFn, callbacks } = summarizer;
	state.requests = [];
	state.turn = 0;
	const { from, to, budget = 0, options = {} } = input.branch;
	const source = {
		getEntry: (id) => byId.get(id),
		getBranch: (id) => {
			const path = [];
			for (let e = byId.get(id); e; e = e.parentId ? byId.get(e.parentId) : undefined) path.unshift(e);
			return path;
		},
	};
	const { entries, commonAncestorId } = await engine.branch.collectEntriesForBranchSummary(source, from, to);
	const { messages, totalTokens, fileOps } = engine.branch.prepareBranchEntries(entries, budget);
	const out = {
		collected: entries.map((e) => e.id), commonAncestorId, included: idsOf(messages, entries), totalTokens,
		fileOps: { read: [...fileOps.read], written: [...fileOps.written], edited: [...fileOps.edited] },
	};
	const asked = { models, model, apiKey: "key", signal: undefined, streamFn, retry: input.retry, callbacks, ...options };
	const result = opened(await attempt(() => engine.branch.generateBranchSummary(entries, asked)));
	out.requests = state.requests.slice();
	out.result = result.summary ? { ...result, summary: digest(result.summary), summaryTail: result.summary.slice(-80) } : result;
	return out;
}

async function documentOf(input) {
	const engine = await engineOf(input.engine ?? "agent-core");
	const out = { oracle: 1, engine: engine.kind, piVersion: engine.version };
	let entries = input.entries ?? [];
	if (input.session) entries = input.session.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
	entries = entries.filter((e) => e.type !== "session");
	const byId = new Map(entries.map((e) => [e.id, e]));
	const summarizer = stub(input);
	if (input.messages) Object.assign(out, await probeMessages(engine, input.messages));
	if (input.usages) out.usages = input.usages.map((u) => { const v = engine.cut.calculateContextTokens(u); return Number.isNaN(v) ? "NaN" : v; });
	if (input.should) out.should = input.should.map((args) => engine.cut.shouldCompact(...args));
	if (input.classify) out.classify = input.classify.map((errorMessage) => ai.isRetryableAssistantError({ stopReason: "error", errorMessage }));
	if (input.overflow) out.overflow = input.overflow.map(([message, window]) => ai.isContextOverflow(message, window));
	if (input.entries || input.session) Object.assign(out, await probeSession(engine, input, entries, byId, summarizer));
	if (input.branch) out.branch = await probeBranch(engine, input, byId, summarizer);
	return out;
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
	if (!line) continue;
	let out;
	try {
		out = await documentOf(JSON.parse(line));
	} catch (e) {
		out = { crash: `${e?.name}: ${e?.message}` };
	}
	process.stdout.write(`${JSON.stringify(out)}\n`);
}
