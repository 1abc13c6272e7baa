export { loadBodyLanguages } from './body-languages.js'
export * from './condition/index.js'
export { type Diagnostic, formatDiagnostic } from './diagnostic.js'
export { diffBundles, diffPlans, formatDiff, type PlanChange, type PlanPart } from './diff-plans.js'
export { digestOf } from './digest.js'
export { displayPlan } from './display-plan.js'
export { type DocumentSource, readDocumentFile } from './document-file.js'
export { editorSchema } from './editor-schema.js'
export { type Flaw, isFlaw } from './flaw.js'
export { type Address, isLoopback, parseAddress } from './grammar/address.js'
export { type LoadOptions, type LoadResult, loadDocument } from './load-document.js'
export type { Overrides } from './overrides.js'
export * from './plan.js'
export { conceal } from './plan-text.js'
export { planOf } from './planning/document-plan.js'
export { spoolDir } from './planning/log-target-plans.js'
export {
  type DocumentMistake,
  documentDiagnostics,
  type PolicyMistake,
  policyDiagnostics,
} from './policy-diagnostics.js'
export { resolvePlan } from './resolve-plan.js'
export { bestRank, compareRanks, routeRank } from './route-rank.js'
export { type Document, documentSchema } from './schema/document.js'
export { LOG_SINKS, type LogSinkName } from './schema/log.js'
export { closestWord, suggestion } from './spelling.js'
export type { ReadFile } from './text-file.js'
