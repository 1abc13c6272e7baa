import type { CapturedBody, CaptureRules, Exchange, KeepBodyRules } from '@sluice/core'
import { bodyText, isForm } from './body-text.js'
import { jsonText } from './json-text.js'
import type { RecordEnv } from './record-env.js'
import { isInSample } from './sample.js'

/**
 * Returns `,"body":{…},"log":{"reason":…}` with the captured bodies, if the rules keep them for this result.
 * Adds `,"sampled":true` if the exchange is in the sample, even if it is recorded for another reason.
 */
export function bodiesPart(x: Exchange, env: RecordEnv, totalMs: number): string {
  const capture = x.record.capture!
  const rules = env.narrowed(capture.rules)
  const { keepBodyOn } = rules
  const isSampled = keepBodyOn !== null && isInSample(x.id, keepBodyOn.share)
  const reason = keepReason(x, keepBodyOn, totalMs) || (isSampled ? 'sample' : '')
  if (reason === '') return ''
  const sampled = isSampled ? ',"sampled":true' : ''
  const { requestIn, requestUp, responseUp, responseOut } = rules
  const wasAsked = capture.upstreamHost !== ''
  const bodies =
    (requestIn.body ? bodyPart('req_in', capture.received, rules, env) : '') +
    (requestUp.body && wasAsked ? bodyPart('req_up', capture.sent ?? capture.received, rules, env) : '') +
    (responseUp.body ? bodyPart('res_up', capture.answered, rules, env) : '') +
    (responseOut.body ? bodyPart('res_out', capture.replied ?? capture.answered, rules, env) : '')
  if (bodies === '') return sampled
  return ',"body":{' + bodies.slice(1) + '},"log":{"reason":"' + reason + '"}' + sampled
}

/** Returns the reason for keeping the bodies, other than sampling. Empty if there is no reason. */
function keepReason(x: Exchange, rules: KeepBodyRules | null, totalMs: number): string {
  if (rules === null) return 'all'
  if (x.result !== 'success' && rules.results.includes(x.result)) return x.result
  if (rules.status !== null && x.status >= rules.status) return 'status'
  return rules.slowMs !== null && totalMs > rules.slowMs ? 'slow' : ''
}

function bodyPart(region: string, kept: CapturedBody | null, rules: CaptureRules, env: RecordEnv): string {
  if (kept === null || kept.bytes === 0) return ''
  const body = kept.upTo(rules.maxBodyBytes)
  const recorded = bodyText(body, env.sensitive, rules.multipart)
  const mayHide = recorded === null ? isForm(body.contentType) : recorded.hidesValues
  const sha256 = rules.sha256 && !mayHide ? ',"sha256":"' + body.sha256 + '"' : ''
  const head = ',"' + region + '":{"bytes":' + body.bytes + sha256
  const ct = body.contentType === '' ? '' : ',"ct":"' + jsonText(body.contentType) + '"'
  const reason = body.isStarved ? ',"cut":"memory"}' : '}'
  const cut = body.isTruncated ? ',"truncated":true' + reason : '}'
  if (recorded !== null) return head + ct + ',"text":"' + jsonText(recorded.text) + '"' + cut
  if (rules.binary === 'omit') return head + ct + '}'
  return head + ct + ',"base64":"' + Buffer.from(body.beginning).toString('base64') + '"' + cut
}
