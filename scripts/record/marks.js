// Two commands for the recorder, which has no RPC command for them: a label on the newest user message, and a step
// back to the last entry before the newest user message (the branch left behind is summarized).
export default function marks(pi) {
  const newestUser = (ctx) =>
    ctx.sessionManager.getBranch().filter((e) => e.type === "message" && e.message.role === "user").at(-1);
  pi.registerCommand("mark", {
    description: "label the newest user message",
    handler: async (args, ctx) => pi.setLabel(newestUser(ctx).id, args.trim()),
  });
  pi.registerCommand("rewind", {
    description: "leave the newest turn",
    handler: async (_args, ctx) => {
      await ctx.navigateTree(newestUser(ctx).parentId, { summarize: true });
    },
  });
}
