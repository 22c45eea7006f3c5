export { readClaudeCodeTranscript } from './claude-code/read-transcript.ts'
export { transcriptNow } from './codex/moved-rollout.ts'
export type { ImportedMemory, MemoryExport } from './exports/imported-memory.ts'
export { memoryFormats, type ReadExportOptions, readMemoryExport } from './exports/read-export.ts'
export type { Host } from './hooks/dialects.ts'
export { type HookInput, parseHookInput } from './hooks/hook-input.ts'
export {
  contextLength,
  contextLimit,
  contextOutput,
  isToldAlready,
  isToldWithPrompt,
  silence,
} from './hooks/hook-output.ts'
export { transcriptOf } from './hooks/transcript-of.ts'
export type { HookEvent } from './install/command-line.ts'
export { install } from './install/install.ts'
export { installedNames, wiredIn } from './install/installed.ts'
export { type JsonPart, jsonFile } from './install/json-file.ts'
export { markedBlock } from './install/marked-block.ts'
export type { FileOutcome, InstallOptions } from './install/outcome.ts'
export { ownFile } from './install/own-file.ts'
export { type ProtocolOptions, protocolText, skillText } from './install/protocol.ts'
export type { Wired } from './install/receipt.ts'
export { CannotEdit, type FileEdit, type Surroundings, type Target, type Wiring } from './install/target.ts'
export { tomlTable } from './install/toml-table.ts'
export { uninstall } from './install/uninstall.ts'
export { yamlList } from './install/yaml-list.ts'
export { listOriginIds } from './list-origin-ids.ts'
export { listSessionTranscripts } from './list-session-transcripts.ts'
export { readNeutralTranscript } from './neutral/read-transcript.ts'
export { openTranscript } from './open-transcript.ts'
export { sessionRevisions } from './opencode/read-session.ts'
export {
  type ArchiveReceipt,
  type ConversationArchiver,
  type HealthStatus,
  type HostMessage,
  type HostSession,
  type InspectedMemory,
  type MemoryPlugin,
  memoryPlugin,
  type PluginContext,
  type PluginParts,
  type SetupPrompt,
} from './pulse-null/memory-plugin.ts'
export { type Line, type ReadLinesOptions, readLines } from './reading/read-lines.ts'
export { splitAddress } from './session-containers.ts'
export { listImportable, type SourceState, sessionSources, stateOfSource } from './sources.ts'
export { asTarget, targets } from './targets.ts'
