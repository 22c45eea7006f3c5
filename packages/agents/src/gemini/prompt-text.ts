import { withoutHookContext } from './hook-context.ts'

/** Text that the host inserts into the person's messages: where they work, and what happens to be open there. */
const injected =
  /^\s*(?:<(?:session_context|hook_context|state_snapshot)\b|This is the Gemini CLI\. We are setting up the context for our chat\.|Here is (?:the user's editor context as a JSON object|a summary of changes in the user's editor context, in JSON format)\. This is for your information only\.|- \*\*Workspace Directories:\*\*\n)/

/** What a person typed while the agent worked, and the host's words around it. */
const steering =
  /^User (?:steering update|hints):\n<user_input>\n([\s\S]*)\n<\/user_input>\n+Internal instruction: /

/** The typed text in a part of a message; empty if nothing was typed. */
export function typedIn(part: string): string {
  const text = withoutHookContext(part)
  if (injected.test(text)) return ''
  return steering.exec(text)?.[1] ?? text
}

/** What the host says in place of a person: that the agent goes in circles, or what happens in the background. */
const saidByHost = [
  /^System: Potential loop detected\. Details: /,
  /^Background execution update:\n<background_output>\n/,
  /^User has manually exited Plan Mode\. Switching to [^\n]*$/,
]

export const isSaidByHost = (text: string): boolean => saidByHost.some((each) => each.test(text))

export interface Prompt {
  /** The typed text, as the host shows it; empty if this is not a prompt. */
  shown: string
  /** What the host made of it for the model. */
  told: string
}

/**
 * Returns a function that tells which prompts no person sent; call it for all prompts, in order. When a hook, or the
 * host itself, lets the agent continue, that is logged as another prompt, which shows what was typed last.
 */
export function createContinuationFilter(): (prompt: Prompt) => boolean {
  let last = ''
  return ({ shown, told }) => {
    if (shown === '') return false
    // A command begins with a slash; it may expand to another text each time.
    const isContinued = shown === last && !shown.startsWith('/') && !told.includes(shown)
    last = shown
    return isContinued
  }
}
