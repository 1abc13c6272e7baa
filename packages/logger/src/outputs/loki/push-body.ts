import type { YieldCpu } from '../../lib/yield.js'
import type { Shipment } from '../output.js'
import { type RecordParts, readRecord } from '../record-parts.js'
import type { LokiOptions, RecordLabel } from './options.js'

interface Entry {
  readonly timeMs: number
  /** `["<nanoseconds>","<line>"]` or the same with metadata. */
  readonly json: string
}

/** Functions that read the value of each label. */
const VALUES: Readonly<Record<RecordLabel, (record: RecordParts) => unknown>> = {
  route: ({ route }) => route,
  api: ({ api }) => api,
  group: ({ group }) => group,
  env: ({ env }) => env,
  status: ({ res }) => (Number(res?.status) >= 100 ? `${Math.floor(Number(res?.status) / 100)}xx` : ''),
  result: ({ result }) => result,
  pod: ({ gw }) => gw?.pod,
  worker: ({ gw }) => gw?.worker,
}

/** Number of records formatted before yielding, which takes about half a millisecond. */
const AT_ONCE = 64

/** Builds the body of a push request: one stream per set of labels, each with its entries in order of time. */
export async function pushBody(
  shipment: Shipment,
  options: Pick<LokiOptions, 'labels' | 'recordLabels' | 'structuredMetadata'>,
  yieldCpu: YieldCpu,
): Promise<Buffer> {
  const streams = new Map<string, Entry[]>()
  for (let i = 0; i < shipment.count; i++) {
    if (i > 0 && i % AT_ONCE === 0) await yieldCpu()
    const line = shipment.jsonOf(i).toString('latin1')
    const record = readRecord(line)
    const labels = labelsOf(record, options)
    const entries = streams.get(labels)
    const entry = entryOf(record, line, options.structuredMetadata)
    if (entries === undefined) streams.set(labels, [entry])
    else entries.push(entry)
  }
  const parts = Array.from(streams, ([labels, entries]) => {
    const values = entries.sort((a, b) => a.timeMs - b.timeMs).map(({ json }) => json)
    return `{"stream":${labels},"values":[${values.join()}]}`
  })
  return Buffer.from(`{"streams":[${parts.join()}]}`)
}

function labelsOf(
  record: RecordParts,
  { labels, recordLabels }: Pick<LokiOptions, 'labels' | 'recordLabels'>,
): string {
  const all: Record<string, string> = { ...labels }
  for (const name of recordLabels) {
    const value = VALUES[name](record)
    if (value !== undefined && value !== '') all[name] = String(value)
  }
  return JSON.stringify(all)
}

function entryOf(record: RecordParts, line: string, hasMetadata: boolean): Entry {
  const readMs = Date.parse(String(record['@timestamp']))
  const timeMs = readMs > 0 ? readMs : Date.now()
  const metadata =
    hasMetadata && typeof record.id === 'string' ? `,${JSON.stringify({ request_id: record.id })}` : ''
  return { timeMs, json: `["${timeMs}000000",${JSON.stringify(line)}${metadata}]` }
}
