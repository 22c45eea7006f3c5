export {
  appendEntries,
  type EchoBlock,
  type EchoDocument,
  emptyEchoes,
  parseEchoes,
  printEchoes,
} from './echo-document.ts'
export { type EchoEntry, entryKey, printEntry } from './entry.ts'
export { type EchoLayer, echoLayers, type LayerRule, layerRules } from './layers.ts'
export { type EchoScore, scoreEcho } from './score.ts'
export {
  emptySidecar,
  identify,
  type KnownEcho,
  parseSidecar,
  printSidecar,
  type Sidecar,
  withReferences,
} from './sidecar.ts'
