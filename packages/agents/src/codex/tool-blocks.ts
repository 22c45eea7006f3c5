import type { ContentBlock, JsonValue } from '@recall/core'
import { isRecord, parseJson } from '../json.ts'

/** A tool's call and result as other hosts log them; `failed` holds the calls whose command failed. */
export function toToolBlock(block: ContentBlock, failed: ReadonlySet<string>): ContentBlock {
  if (block.type === 'tool_use') return { ...block, input: toInput(block.input) }
  if (block.type !== 'tool_result') return block
  const { content, exitCode } = toOutput(block.content)
  const isError = failed.has(block.toolUseId) || (exitCode !== undefined && exitCode !== 0)
  return { ...block, content, ...(isError ? { isError } : {}) }
}

function toInput(input: JsonValue): JsonValue {
  const patched = filesOfPatch(isRecord(input) ? input.input : input)
  if (patched.length > 0) return { path: patched[0] ?? '', paths: patched }
  if (!isRecord(input) || !isTexts(input.command)) return input
  return { ...input, command: commandLine(input.command) }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** The command that was run; for a script, without the shell that ran it. */
function commandLine(command: readonly string[]): string {
  const [shell = '', flag = '', script, ...rest] = command
  const isScript = /(?:^|[\\/])(?:ba|z|da)?sh$/.test(shell) && /^-\w*c$/.test(flag) && rest.length === 0
  return (isScript ? script : undefined) ?? command.join(' ')
}

function filesOfPatch(patch: unknown): string[] {
  if (typeof patch !== 'string' || !patch.trimStart().startsWith('*** Begin Patch')) return []
  return [...patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)].map(
    ([, path = '']) => path.trim(),
  )
}

/** Some versions log the output of a command as JSON, with its exit code. */
function toOutput(content: string): { content: string; exitCode?: unknown } {
  const logged = content.startsWith('{') ? parseJson(content) : undefined
  if (!isRecord(logged) || typeof logged.output !== 'string' || !isRecord(logged.metadata)) return { content }
  return { content: logged.output, exitCode: logged.metadata.exit_code }
}
