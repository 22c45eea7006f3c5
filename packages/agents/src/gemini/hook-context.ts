/** Output of hooks, which the host puts before a prompt; angle brackets in it are escaped. */
const hookContext = /^(?:\s*<hook_context>[^<]*<\/hook_context>)+\s*/

/** A prompt as it was typed. */
export const withoutHookContext = (prompt: string): string => prompt.replace(hookContext, '')
