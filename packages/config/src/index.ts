export { readYaml } from '@sluice/core/yaml'
export {
  type CaseFile,
  caseEditorSchema,
  type Expected,
  type ExpectedRequest,
  type Verdict,
  type WrittenRequest,
  type WrittenResponse,
  type WrittenResponses,
  type WrittenStep,
} from './cases/case-schema.js'
export { type CasesResult, checkCases, type LocatedCase, readCases } from './cases/read-cases.js'
export { diffBundles, diffPlans, formatDiff, type PlanChange, type PlanPart } from './compare/diff-plans.js'
export { displayDocument } from './compare/display-document.js'
export { displayPlan } from './compare/display-plan.js'
export { type RouteCost, signed, type TotalCost, totalCost } from './compare/route-cost.js'
export { loadBodyLanguages } from './condition/body-languages.js'
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
export { type Diagnostic, formatDiagnostic } from './diagnostic/diagnostic.js'
export { type Issue, isIssue } from './diagnostic/issue.js'
export { closestWord, suggestion } from './diagnostic/spelling.js'
export { type DocumentSource, readDocumentFile } from './file/document-file.js'
export { type ReadFile, readTextFile } from './file/text-file.js'
export { type ComposeOptions, composeDocument } from './fragments/compose-document.js'
export {
  BASE_FILE,
  isSourceDocument,
  partOf,
  routePrefixProblem,
  TEAM_PATTERN,
  type TeamScope,
} from './fragments/source-parts.js'
export { isLoopback, parseAddress } from './grammar/address.js'
export { isCacheToken, longestCachedValue } from './grammar/cache-bounds.js'
export {
  type CertificateWarning,
  certificateWarnings,
  describeCertificate,
} from './grammar/certificate-dates.js'
export { certificateNames } from './grammar/certificate-names.js'
export { parseRedisUrl } from './grammar/url.js'
export { DocumentLoader } from './load/document-loader.js'
export { type LoadOptions, type LoadResult, loadDocument } from './load/load-document.js'
export { type VaultRequest, type VaultSettings, vaultRequestOf } from './load/vault-request.js'
export { editorSchema } from './manual/editor-schema.js'
export { digestOf } from './plan/digest.js'
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
} from './plan/plan.js'
export type { ControlPlan } from './plan/plan-control.js'
export type { KubernetesPlan, ServicePlan } from './plan/plan-kubernetes.js'
export type {
  Address,
  KeyPairPlan,
  ListenerCertificatePlan,
  ListenerLimits,
  ListenerPlan,
  ListenerTlsPlan,
  NamedCertificatePlan,
} from './plan/plan-listener.js'
export type {
  CapturePlan,
  LogCustomPlan,
  LogElasticsearchPlan,
  LogKafkaPlan,
  LogOutletPlan,
  LogOutputPlan,
  LogPlan,
  LogSinkKind,
  LogSpoolPlan,
  LogSyslogPlan,
  LogWebhookPlan,
} from './plan/plan-log.js'
export type { MetricsExportPlan, OverloadPlan } from './plan/plan-overload.js'
export type { PluginPlan } from './plan/plan-plugin.js'
export type { CachePlan, PersistPlan, StatePlan } from './plan/plan-state.js'
export type { TracingPlan } from './plan/plan-tracing.js'
export type {
  CanaryAbortPlan,
  CanaryPlan,
  HashKey,
  MirrorComparePlan,
  MirrorPlan,
  RequestMatch,
  StickyPlan,
} from './plan/plan-upstream.js'
export type { VaultAuthPlan, VaultPlan } from './plan/plan-vault.js'
export type { WebSocketPlan } from './plan/plan-websocket.js'
export { bestRank, compareRanks, routeRank } from './plan/route-rank.js'
export { planOf } from './planning/document-plan.js'
export { spoolDir } from './planning/log-target-plans.js'
export { importPolicies, type PluginExport } from './plugins/exported-policies.js'
export { digestOfFiles } from './plugins/package-files.js'
export { describedCatalog, extendedCatalog, type PluginSet, usablePlugins } from './plugins/plugin-set.js'
export { readPlugin, readPlugins } from './plugins/read-plugins.js'
export { formatReason } from './plugins/reason.js'
export { loadNamedPolicies, loadPlannedPolicies } from './policy/load-policies.js'
export { type PolicyDestination, policyDestinations } from './policy/policy-destinations.js'
export {
  type DocumentMistake,
  documentDiagnostics,
  type PolicyMistake,
  policyDiagnostics,
} from './policy/policy-diagnostics.js'
export { policySuggestion } from './policy/policy-names.js'
export { normalizeDocument } from './read/normalized.js'
export type { Overrides } from './read/overrides.js'
export type { VaultValues } from './reference/reference-values.js'
export { relativePathsOf } from './reference/relative-files.js'
export { packBundle, unpackBundle } from './resolve/packed-bundle.js'
export { conceal, hasUnreadSecret } from './resolve/plan-text.js'
export { resolvePlan } from './resolve/resolve-plan.js'
export { type Document, documentSchema } from './schema/document.js'
export { LOG_SINKS, type LogSinkName } from './schema/log.js'
export { writtenSecretsOf } from './secrets/written-secrets.js'
