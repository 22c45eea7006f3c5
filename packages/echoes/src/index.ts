export type { KnowledgePlan } from './compress-knowledge.ts'
export {
  appendEntries,
  type EchoBlock,
  type EchoDocument,
  emptyEchoes,
  parseEchoes,
  printEchoes,
} from './echo-document.ts'
export type { EditPlan, EditStep } from './edit.ts'
export { type EchoEntry, entryKey, printEntry } from './entry.ts'
export type { EchoFinding } from './examine.ts'
export {
  afterAudit,
  afterPlan,
  afterReview,
  afterWork,
  beforePlan,
  beforeWork,
  type Discovery,
  type Occasion,
  type ReviewFinding,
} from './hooks.ts'
export { type EchoLayer, echoLayers, type LayerRule, layerRules } from './layers.ts'
export type { Renamed } from './migrate.ts'
export type { Migrated } from './migration.ts'
export { type Mirrored, mirrorEchoes } from './mirror.ts'
export { type Consolidation, type Echoes, type EchoesOptions, openEchoes } from './open-echoes.ts'
export { type PrunePlan, type PrunePolicy, type PruneStep, planPrune } from './plan-prune.ts'
export { type Promotion, type PromotionDetails, planPromotion, promoteEcho } from './promote.ts'
export {
  findRemembrance,
  parseRemembrance,
  printRemembrance,
  type Remembrance,
  type RemembranceCategory,
  type RemembranceDocument,
  remembranceCategories,
} from './remembrance.ts'
export { type RoleMemory, teamRole } from './role-folder.ts'
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
export { type Surfaced, type SurfaceOptions, surface } from './surface.ts'
export { applyVersionControl } from './version-control.ts'
