export { loadBodyLanguages } from './body-languages.js'
export {
  type Condition,
  type ConditionCheck,
  ConditionError,
  type ConditionIssue,
  type ConditionNeeds,
  type ConditionScope,
  checkCondition,
  compileCondition,
  compileExpression,
} from './condition/index.js'
export { type Diagnostic, formatDiagnostic } from './diagnostic.js'
export { diffBundles, diffPlans, formatDiff, type PlanChange, type PlanPart } from './diff-plans.js'
export { digestOf } from './digest.js'
export { displayPlan } from './display-plan.js'
export { type DocumentSource, readDocumentFile } from './document-file.js'
export { DocumentLoader } from './document-loader.js'
export { editorSchema } from './editor-schema.js'
export { type Address, isLoopback, parseAddress } from './grammar/address.js'
export { isCacheToken, longestCachedValue } from './grammar/cache-bounds.js'
export { certificateNames } from './grammar/certificate-names.js'
export { parseRedisUrl } from './grammar/url.js'
export { type Issue, isIssue } from './issue.js'
export { type LoadOptions, type LoadResult, loadDocument } from './load-document.js'
export { loadNamedPolicies, loadPlannedPolicies } from './load-policies.js'
export type { Overrides } from './overrides.js'
export { packBundle, unpackBundle } from './packed-bundle.js'
export type {
  AdminPlan,
  AdminRole,
  AdminToken,
  BreakerPlan,
  ConfigBundle,
  FieldPredicate,
  HealthPlan,
  MatchPlan,
  OutlierPlan,
  PathPlan,
  Plan,
  PolicyUse,
  RedirectPlan,
  ResolvePlan,
  RespondPlan,
  RetryPlan,
  RewritePlan,
  RoutePlan,
  TargetPlan,
  TargetRole,
  TimeoutsPlan,
  UpstreamPlan,
  UpstreamTlsPlan,
  WindowPlan,
} from './plan.js'
export type { KubernetesPlan, ServicePlan } from './plan-kubernetes.js'
export type {
  KeyPairPlan,
  ListenerLimits,
  ListenerPlan,
  ListenerTlsPlan,
  NamedCertificatePlan,
} from './plan-listener.js'
export type {
  CapturePlan,
  LogCustomPlan,
  LogElasticsearchPlan,
  LogOutletPlan,
  LogOutputPlan,
  LogPlan,
  LogSinkKind,
  LogSpoolPlan,
  LogSyslogPlan,
  LogWebhookPlan,
} from './plan-log.js'
export type { OverloadPlan } from './plan-overload.js'
export type { PluginPlan } from './plan-plugin.js'
export type { CachePlan, PersistPlan, StatePlan } from './plan-state.js'
export { conceal } from './plan-text.js'
export type {
  CanaryAbortPlan,
  CanaryPlan,
  HashKey,
  MirrorComparePlan,
  MirrorPlan,
  RequestMatch,
  StickyPlan,
} from './plan-upstream.js'
export type { WebSocketPlan } from './plan-websocket.js'
export { planOf } from './planning/document-plan.js'
export { spoolDir } from './planning/log-target-plans.js'
export { importPolicies, type PluginExport } from './plugins/exported-policies.js'
export { digestOfFiles } from './plugins/package-files.js'
export { describedCatalog, extendedCatalog, type PluginSet, usablePlugins } from './plugins/plugin-set.js'
export { readPlugin, readPlugins } from './plugins/read-plugins.js'
export { formatReason } from './plugins/reason.js'
export { type PolicyDestination, policyDestinations } from './policy-destinations.js'
export {
  type DocumentMistake,
  documentDiagnostics,
  type PolicyMistake,
  policyDiagnostics,
} from './policy-diagnostics.js'
export { policySuggestion } from './policy-names.js'
export { normalizeDocument } from './read/normalized.js'
export { relativePathsOf } from './relative-files.js'
export { resolvePlan } from './resolve-plan.js'
export { bestRank, compareRanks, routeRank } from './route-rank.js'
export { type Document, documentSchema } from './schema/document.js'
export { LOG_SINKS, type LogSinkName } from './schema/log.js'
export { closestWord, suggestion } from './spelling.js'
export { type ReadFile, readTextFile } from './text-file.js'
export { writtenSecretsOf } from './written-secrets.js'
