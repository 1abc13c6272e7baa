import { PHASE_NAMES, visibleText } from '@sluice/core'
import { recordValue, type TrafficRecord } from '@sluice/logger'
import { type Cell, tableLines } from '../output/table.js'
import { countText } from '../output/text.js'

/** Width of a timeline in characters. */
const TIMELINE_WIDTH = 40

/** Formats a traffic record on several lines, for people. */
export function recordPage(record: TrafficRecord): string[] {
  const facts = [
    fact('id', [at(record, 'id')]),
    fact('time', [at(record, '@timestamp')]),
    fact('client', [at(record, 'client.ip'), at(record, 'client.country'), at(record, 'ua')]),
    fact('trace', [at(record, 'trace.id')]),
    fact('route', [at(record, 'route'), at(record, 'url.template'), labelled('API', at(record, 'api'))]),
    fact('consumer', consumerTexts(record)),
    fact('upstream', upstreamTexts(record)),
    fact('cache', [at(record, 'cache.status')]),
    fact('limit', [at(record, 'limit.name'), labelled('remaining', at(record, 'limit.remaining'))]),
    fact('request', sizeTexts(record, 'req')),
    fact('response', sizeTexts(record, 'res')),
    fact('gateway', gatewayTexts(record)),
    fact('error', errorTexts(record)),
  ]
  return [
    requestLine(record),
    '',
    ...facts.filter((line) => line !== ''),
    ...timelineLines(record),
    ...attemptLines(record),
    ...section(tableLines(POLICY_HEADINGS, listAt(record, 'policies').map(policyRow))),
    ...section(tableLines(CALL_HEADINGS, listAt(record, 'api_calls').map(callRow))),
  ]
}

/** Returns the method, URL, status, result and duration of a record. */
export function requestLine(record: TrafficRecord): string {
  const query = at(record, 'url.query')
  const scheme = at(record, 'url.scheme')
  const host = at(record, 'url.host')
  const url = `${scheme === '' ? '' : `${scheme}://`}${host}${at(record, 'url.path')}${query === '' ? '' : `?${query}`}`
  const total = at(record, 't.total')
  return [
    at(record, 'http.method'),
    url,
    '->',
    at(record, 'res.status'),
    at(record, 'result'),
    `${total} ms`,
  ].join(' ')
}

/** Returns the value of a field as visible text; empty if absent. */
export function at(record: TrafficRecord, path: string): string {
  const value = recordValue(record, path)
  return value === undefined || value === null || typeof value === 'object' ? '' : visibleText(String(value))
}

/** Returns the objects of a list; empty if absent. */
export function listAt(record: TrafficRecord, path: string): readonly TrafficRecord[] {
  const value = recordValue(record, path)
  return Array.isArray(value) ? (value as readonly TrafficRecord[]) : []
}

/** Returns a line with a name and its texts; empty if there are none. */
export function fact(name: string, texts: readonly string[]): string {
  const present = texts.filter((text) => text !== '')
  return present.length === 0 ? '' : `${name.padEnd(10)}${present.join(', ')}`
}

function labelled(label: string, text: string): string {
  return text === '' ? '' : `${label} ${text}`
}

function consumerTexts(record: TrafficRecord): string[] {
  const id = at(record, 'consumer.id')
  const name = at(record, 'consumer.name')
  return [
    name,
    id === name ? '' : labelled('id', id),
    labelled('by', at(record, 'consumer.auth')),
    labelled('credential', at(record, 'consumer.credential')),
  ]
}

function upstreamTexts(record: TrafficRecord): string[] {
  const attempts = Number(at(record, 'up.attempts'))
  return [
    at(record, 'up.name'),
    at(record, 'up.addr'),
    labelled('status', at(record, 'up.status')),
    attempts > 0 ? countText(attempts, 'attempt') : '',
    at(record, 'up.reused') === 'true' ? 'connection reused' : '',
  ]
}

function sizeTexts(record: TrafficRecord, side: 'req' | 'res'): string[] {
  const head = at(record, `${side}.bytes_h`)
  const body = at(record, `${side}.bytes_b`)
  return [
    head === '' ? '' : `${head} bytes of headers`,
    body === '' ? '' : `${body} bytes of body`,
    at(record, `${side}.ct`),
  ]
}

function gatewayTexts(record: TrafficRecord): string[] {
  return [
    at(record, 'env'),
    at(record, 'gw.pod'),
    labelled('worker', at(record, 'gw.worker')),
    labelled('version', at(record, 'gw.version')),
    labelled('configuration', at(record, 'gw.config')),
  ]
}

function errorTexts(record: TrafficRecord): string[] {
  return [
    at(record, 'error.code'),
    labelled('policy', at(record, 'error.policy')),
    labelled('phase', at(record, 'error.phase')),
    at(record, 'error.reason'),
    at(record, 'error.msg'),
  ]
}

/** Returns one bar per phase, each after the ones before it. */
function timelineLines(record: TrafficRecord): string[] {
  const total = Number(at(record, 't.total'))
  const phases = PHASE_NAMES.map((name) => ({ name, ms: Number(at(record, `t.${name}`)) })).filter(
    ({ ms }) => ms > 0,
  )
  let startMs = 0
  const rows = phases.map(({ name, ms }) => {
    const from = Math.min(TIMELINE_WIDTH - 1, Math.round((startMs / total) * TIMELINE_WIDTH))
    startMs += ms
    const to = Math.min(TIMELINE_WIDTH, Math.max(from + 1, Math.round((startMs / total) * TIMELINE_WIDTH)))
    return [name, ms, ' '.repeat(from) + '█'.repeat(to - from)]
  })
  return section(tableLines(['PHASE', 'MS', ''], rows))
}

/** Returns the lines of a table after an empty line, or nothing for a table without rows. */
function section(lines: readonly string[]): string[] {
  return lines.length < 2 ? [] : ['', ...lines]
}

/** Returns a table of the failed upstream attempts after an empty line; empty without any. */
export function attemptLines(record: TrafficRecord): string[] {
  return section(tableLines(TRY_HEADINGS, listAt(record, 'up.tries').map(tryRow)))
}

const TRY_HEADINGS = ['FAILED ATTEMPT', 'MS', 'FAILURE', 'REASON', 'RETRY']

function tryRow(one: TrafficRecord): Cell[] {
  return [
    at(one, 'addr'),
    Number(at(one, 'ms')),
    at(one, 'code') || at(one, 'status'),
    at(one, 'reason'),
    at(one, 'retry'),
  ]
}

const POLICY_HEADINGS = ['POLICY', 'MS', 'OUTCOME', 'NOTE']

function policyRow(one: TrafficRecord): Cell[] {
  return [at(one, 'id'), Number(at(one, 'ms')), at(one, 'out'), at(one, 'note')]
}

const CALL_HEADINGS = ['CALL', 'AT', 'MS', 'STATUS', 'RESULT', 'FROM']

function callRow(one: TrafficRecord): Cell[] {
  return [
    at(one, 'name'),
    Number(at(one, 'at')),
    Number(at(one, 'ms')),
    at(one, 'status'),
    at(one, 'result'),
    at(one, 'from'),
  ]
}
