import { familyOf, kindOf } from './merge.js'
import type { Exemplar, MetricKind, Sample } from './sample.js'

/** A metric with its series, as OpenTelemetry has them. */
export interface MetricPoints {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly kind: MetricKind
  readonly points: readonly MetricPoint[]
}

/** Value of one series. */
interface MetricPoint {
  readonly attributes: readonly (readonly [name: string, value: string])[]
  /** Value of a counter or gauge, or sum of a histogram. */
  readonly value: number
  readonly buckets?: {
    readonly bounds: readonly number[]
    /** Number of values in each bucket, not cumulative. */
    readonly counts: readonly number[]
    readonly exemplars: readonly Exemplar[]
  }
}

/** A pair in the labels of a sample, with its escaped value. */
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Groups samples by metric and series, in the order in which they were first seen. */
export function metricPoints(
  samples: readonly Sample[],
  help: Readonly<Record<string, string>>,
): MetricPoints[] {
  const families = new Map<string, Sample[]>()
  for (const sample of samples) {
    const name = familyOf(sample.name)
    const members = families.get(name)
    if (members === undefined) families.set(name, [sample])
    else members.push(sample)
  }
  return Array.from(families, ([name, members]) => {
    const kind = kindOf(members[0]!.name)
    const points = kind === 'histogram' ? histogramsOf(members) : members.map(pointOf)
    return { name, description: help[name] ?? '', unit: unitOf(name), kind, points }
  })
}

function pointOf({ labels, value }: Sample): MetricPoint {
  return { attributes: pairsIn(labels), value }
}

interface Series {
  readonly attributes: MetricPoint['attributes']
  sum: number
  readonly buckets: { readonly bound: number; readonly count: number; readonly exemplar?: Exemplar }[]
}

function histogramsOf(members: readonly Sample[]): MetricPoint[] {
  const all = new Map<string, Series>()
  for (const { name, labels, value, exemplar } of members) {
    const pairs = pairsIn(labels)
    const attributes = pairs.filter(([label]) => label !== 'le')
    const key = JSON.stringify(attributes)
    const series = all.get(key) ?? { attributes, sum: 0, buckets: [] }
    all.set(key, series)
    const bound = pairs.find(([label]) => label === 'le')?.[1]
    if (name.endsWith('_sum')) series.sum = value
    else if (bound !== undefined)
      series.buckets.push({
        ...{ bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count: value },
        ...(exemplar === undefined ? {} : { exemplar }),
      })
  }
  return Array.from(all.values(), ({ attributes, sum, buckets }) => {
    const ordered = buckets.sort((a, b) => a.bound - b.bound)
    const counts = ordered.map(({ count }, i) => Math.max(0, count - (ordered[i - 1]?.count ?? 0)))
    const bounds = ordered.slice(0, -1).map(({ bound }) => bound)
    const exemplars = ordered.flatMap(({ exemplar }) => exemplar ?? [])
    return { attributes, value: sum, buckets: { bounds, counts, exemplars } }
  })
}

function pairsIn(labels: string): [string, string][] {
  return Array.from(labels.matchAll(LABEL), ([, name = '', value = '']) => [
    name,
    value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped)),
  ])
}

/** Returns the unit of a metric by its name, in UCUM notation. */
function unitOf(name: string): string {
  const base = name.replace(/_total$/, '')
  return base.endsWith('_seconds') ? 's' : base.endsWith('_bytes') ? 'By' : ''
}
