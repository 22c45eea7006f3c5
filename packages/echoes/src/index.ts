export {
  appendEntries,
  type EchoBlock,
  type EchoDocument,
  emptyEchoes,
  parseEchoes,
  printEchoes,
} from './documents/echo-document.ts'
export { type EchoEntry, printEntry } from './documents/entry.ts'
export { type EchoLayer, echoLayers, type LayerRule, layerRules } from './documents/layers.ts'
export type { Renamed } from './documents/rename-metadata.ts'
export { redactSensitive, withoutSecrets, withSafeEvidence } from './documents/sensitive.ts'
export {
  emptySidecar,
  identify,
  type KnownEcho,
  parseSidecar,
  printSidecar,
  type Sidecar,
  withReferences,
} from './documents/sidecar.ts'
export type { Echoes, EchoesOptions } from './echoes.ts'
export { type RoleMemory, teamRole } from './files/role-folder.ts'
export { applyVersionControl } from './files/version-control.ts'
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
export type { KnowledgePlan } from './lifecycle/compress-knowledge.ts'
export type { Consolidation } from './lifecycle/consolidate.ts'
export type { EditPlan, EditStep, NewIds } from './lifecycle/edit.ts'
export type { EchoCheck } from './lifecycle/examine.ts'
export type { Migrated } from './lifecycle/migration.ts'
export { type PrunePlan, type PrunePolicy, type PruneStep, planPrune } from './lifecycle/plan-prune.ts'
export { type Promotion, type PromotionDetails, planPromotion, promoteEcho } from './lifecycle/promote.ts'
export {
  findRemembrance,
  parseRemembrance,
  printRemembrance,
  type Remembrance,
  type RemembranceCategory,
  type RemembranceDocument,
  remembranceCategories,
} from './lifecycle/remembrance.ts'
export { type EchoScore, scoreEcho } from './lifecycle/score.ts'
export { copiesWithOrigin, type EchoOrigin, type Mirrored, mirrorEchoes, removeCopies } from './mirror.ts'
export { openEchoes } from './open-echoes.ts'
export { type Surfaced, type SurfaceOptions, surface } from './surface.ts'
