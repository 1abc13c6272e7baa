export { type Static, type TSchema, Type } from '@sinclair/typebox'
export {
  AttemptTrace,
  type FailedTry,
  type HookPhase,
  PolicyRun,
  type PolicySpan,
  type PolicyVerdict,
  type PoolState,
  type RetryDecision,
} from './contract/attempt-trace.js'
export { Attempts } from './contract/attempts.js'
export {
  type BodyAnswer,
  BodyAnswers,
  type BodyQuery,
  type BodyQuestion,
  type BodyValue,
} from './contract/body-answers.js'
export { type BodyFilterOf, type Filtered, ResponseFilters } from './contract/body-filter.js'
export type {
  BodyInput,
  BodyLanguage,
  BodyLanguages,
  BodyReader,
  StreamingReader,
} from './contract/body-language.js'
export type { BodyTap } from './contract/body-tap.js'
export { type BodyView, BodyViews, type ViewMaker } from './contract/body-views.js'
export { type CachedValue, type CacheStore, MAX_CACHED_BYTES } from './contract/cache-store.js'
export {
  type BodyBeginning,
  CAPTURE_MEMORY,
  Capture,
  CapturedBody,
  CaptureMemory,
  type CaptureRules,
  type KeepBodyRules,
  type RegionRules,
} from './contract/capture.js'
export type { ClientCertificate } from './contract/client-certificate.js'
export { type ClientPace, NO_PACE } from './contract/client-pace.js'
export { type Configured, withDefaults } from './contract/configured.js'
export { type Consumer, consumerOf } from './contract/consumer.js'
export { CONTRACT_VERSION } from './contract/contract-version.js'
export { noteLimit } from './contract/deciding-limit.js'
export type { DeprecatedKey, DeprecatedKeys } from './contract/deprecated-keys.js'
export {
  declareErrors,
  type ErrorCode,
  type ErrorKind,
  errorCodes,
  errorKind,
  GATEWAY_ERRORS,
  isErrorCode,
  type PolicyErrors,
  statusOf,
} from './contract/errors.js'
export {
  type BodyFilter,
  type DeliveredExchange,
  Exchange,
  type ExchangeResult,
  NO_ROUTE,
  type ReceivedExchange,
  type RouteApi,
  type RoutedExchange,
  type RouteFacts,
} from './contract/exchange.js'
export type { ExchangeTrace } from './contract/exchange-trace.js'
export {
  type HttpAnswer,
  type HttpCall,
  HttpCallFailed,
  type HttpCallFailure,
  type HttpClient,
  type HttpClientOptions,
  type HttpClientTls,
} from './contract/http-client.js'
export {
  deduplicateCounts,
  EMPTY_LOG,
  LOSS_REASONS,
  type LogCounts,
  type LogIdentity,
  type LogSink,
  type LossReason,
  type SpoolHandovers,
  sumOfCounts,
  type Takeover,
} from './contract/log-sink.js'
export { OFFLOAD_BYTES, type Offload, type OffloadedWork, Overload, Overtime } from './contract/offload.js'
export { PHASE, PHASE_NAMES, type Phase } from './contract/phase.js'
export { PhaseTimes } from './contract/phase-times.js'
export {
  type Catalog,
  type CompileEnv,
  type ConsumerPhase,
  type Counter,
  definePolicy,
  type Expression,
  type ExpressionValue,
  type MeasuredCost,
  type Policy,
  type PolicyCost,
  type PolicyIdentity,
  type PolicyWarning,
  type RejectedAnswer,
  type Slot,
  type Step,
} from './contract/policy.js'
export { CheckFailure, PolicyFailure, UnreadableBody } from './contract/policy-failure.js'
export { type CallNote, MAX_CALL_NOTES, RecordNotes, WebSocketCounts } from './contract/record-notes.js'
export {
  answer,
  type Eventual,
  type Outcome,
  type Problem,
  type Reply,
  refusal,
  substitute,
} from './contract/reply.js'
export {
  type Grant,
  type LimitRule,
  MAX_STATE_VALUE_BYTES,
  type StateScope,
  StateSlow,
  type StateStore,
  type StateStores,
  StateUnavailable,
} from './contract/state.js'
export {
  type PurgeScope,
  type StoredResponseCounts,
  type StoredResponseFacts,
  StoredResponses,
} from './contract/stored-responses.js'
export {
  checkExchange,
  type ResettableValues,
  resetInvalid,
  resettableValues,
  validateHookResult,
} from './contract/validate-hook-result.js'
export { autonomousSystemOf, cityOf, continentOf, countryOf } from './geo/place.js'
export { PlaceDatabase } from './geo/place-database.js'
export { PlaceFile } from './geo/place-file.js'
export { browserObjection, type GuardedFields } from './http/browser-guard.js'
export {
  canonicalPath,
  decodeReserved,
  escapeRawCharacters,
  forwardablePath,
  hasEncodedSlash,
  hasHiddenDots,
  isAmbiguousPath,
  isPlainPath,
  isStrictPath,
  pathWithParameters,
  withoutParameters,
} from './http/canonical-path.js'
export { EventStream } from './http/event-stream.js'
export { HeaderCache } from './http/header-cache.js'
export {
  appendHeader,
  type HeaderList,
  hasContentCoding,
  headerCount,
  headerJoined,
  headerValue,
  removeHeader,
  removeHeadersWithPrefix,
  setHeader,
} from './http/header-list.js'
export { httpDate, retryAfterMs } from './http/http-date.js'
export {
  contentLengthOf,
  isFieldValue,
  isHopByHop,
  isMessageLookalike,
  isToken,
  listHasToken,
  plainName,
  trimOws,
  trimOwsStart,
} from './http/http-syntax.js'
export { FORM_TYPE, isJsonType, mediaType, prefersHtml, weightOf } from './http/media-type.js'
export { preflightMethod } from './http/preflight.js'
export {
  bytewiseUrl,
  decodedForm,
  decodedUrl,
  formText,
  QueryCursor,
  queryValue,
  withQuery,
} from './http/query.js'
export { cookieName, isForgeable, sessionCookie, sessionIdIn } from './http/session-cookie.js'
export { Sessions } from './http/sessions.js'
export { type CallerSpan, isLowerHex, readTraceparent } from './http/traceparent.js'
export { attemptSpanId } from './lib/attempt-span-id.js'
export { ByteCollector } from './lib/byte-collector.js'
export { flattenString, internString } from './lib/flatten-string.js'
export { makeFolders } from './lib/folders.js'
export { compilePattern, compileRegex, type Regex } from './lib/linear-regex.js'
export { Lockout } from './lib/lockout.js'
export { Memo } from './lib/memo.js'
export { type FileRights, syncDirectory, writePrivateFile } from './lib/private-file.js'
export { RequestIds } from './lib/request-id.js'
export { rolledBackContents } from './lib/rolled-back.js'
export { Slices } from './lib/slices.js'
export { messageOf, reasonOf, systemErrorReason } from './lib/system-error.js'
export {
  DURATION_PATTERN,
  formatSize,
  parseDuration,
  parseRatio,
  parseSize,
  RATE_PATTERN,
  RATIO_PATTERN,
  SIZE_PATTERN,
} from './lib/units.js'
export { visibleText } from './lib/visible-text.js'
export { escapedXml } from './lib/xml-escapes.js'
export { type Zone, zoneOf } from './lib/zone.js'
export { BAN_CHANGES_MS, BANS_LIFTED, type BanEntry, banName } from './limits/ban-name.js'
export { CALENDAR_PERIODS, type CalendarPeriod } from './limits/calendar.js'
export {
  counterKey,
  counterName,
  counterPrefix,
  isAddressKey,
  type LimitKind,
  namedCounterKey,
  readCounterName,
} from './limits/counter-key.js'
export { type Limit, quotaLimit, rateLimits } from './limits/limits.js'
export { type AddressRule, compileCallAddresses, isMetadataAddress } from './net/call-addresses.js'
export { certificateFacts } from './net/certificate-facts.js'
export { type CidrSet, compileCidrs, parseCidr } from './net/cidr.js'
export { canonicalIpv6, clientNetwork, ipv4Number, isIpAddress, readIpv6 } from './net/ip-address.js'
export { readCertificates, readTlsFiles, type TlsFileContents, type TlsFileNames } from './net/pem-files.js'
export { MASK, partlyMasked } from './redaction/mask.js'
export { SensitiveNames } from './redaction/sensitive-names.js'
export { replacedSpans, type Spans } from './redaction/value-types/spans.js'
export { type FindValues, VALUE_TYPES, type ValueTypeName } from './redaction/value-types/value-types.js'
export { joinJsonHead, splitJsonHead } from './state/json-head.js'
export { ANSWERS_PREFIX, CACHED_PREFIX, LocalCache, USED_PREFIX } from './state/local-cache.js'
export { MemoryStore } from './state/memory-store.js'
export { MemoryTable, type StoredEntry, type StoredLimit } from './state/memory-table.js'
export { storedKey } from './state/state-key.js'
