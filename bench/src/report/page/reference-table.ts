import type { Point } from '../../model/summary.js'
import { referenceBeside } from '../../reference/reference.js'
import type { Reference, ReferencePoint } from '../../reference/reference-point.js'
import { countText, isValid, microsText, percentileOf, ratioText } from '../figures.js'
import { escaped } from '../markup.js'
import { OURS } from '../rivals.js'
import { tableHtml } from './table.js'

/** The published figures beside ours, labelled with what they ran on; those that we have no point for are there, too. */
export function referenceHtml(points: readonly Point[], reference: Reference): string {
  const { headings, rows } = referenceRows(points, reference)
  const label = `${reference.product}: ${reference.hardware}; ${reference.measuredWith}.`
  const caution =
    'Their hardware is not ours: a ratio here is a hint and no result, and only requests a second of one core come near to being comparable. '
  const kinds =
    'Rows of theirs that sit right below a round rate were measured at that rate, so that their throughput was chosen; they have no ratio. Latencies in brackets are those of overload.'
  const rest = tableHtml(PUBLISHED, publishedRows(reference), `${reference.product}, as published`)
  const beside =
    rows.length === 0
      ? '<p>No point of this run was measured like one of theirs.</p>'
      : tableHtml(headings, rows, 'Published figures beside ours')
  return `<p><strong>${escaped(label)}</strong></p><p>${escaped(caution + kinds)}</p>${beside}<details><summary>All published figures</summary>${rest}</details>`
}

const HEADINGS = [
  'scenario',
  'connections',
  'kind',
  'ours /s',
  'theirs /s',
  'ratio',
  'ours /s a core',
  'theirs /s a core',
  'ratio a core',
  'our P99',
  'their P99',
]

/** Our results that have a published row, as text. */
export function referenceRows(
  points: readonly Point[],
  reference: Reference,
): { headings: string[]; rows: string[][] } {
  const ours = points.filter((point) => isValid(point) && point.contestant === OURS)
  const found = ours.flatMap((point) => {
    const theirs = referenceBeside(point, reference)
    return theirs === null ? [] : [{ point, theirs }]
  })
  const rows = found.filter(({ point, theirs }) => isNearest(point, theirs, ours))
  return { headings: HEADINGS, rows: rows.map(({ point, theirs }) => rowOf(point, theirs)) }
}

/** Of several rates of ours the one that comes closest to theirs stands beside it. */
function isNearest(point: Point, theirs: ReferencePoint, ours: readonly Point[]): boolean {
  const gap = (each: Point): number => Math.abs((each.targetPerSecond ?? 0) - theirs.perSecond)
  const alike = ours.filter(
    ({ scenario, connections, kind }) =>
      scenario === point.scenario && connections === point.connections && kind === point.kind,
  )
  return alike.every((each) => gap(point) <= gap(each))
}

function rowOf(point: Point, theirs: ReferencePoint): string[] {
  const [ours, other] = [point.perSecond.mean, theirs.perSecond]
  const [oursPerCore, otherPerCore] = [ours / point.workers, other / theirs.cpus]
  const ratio = (value: number): string => (point.kind === 'saturation' ? `${ratioText(value)} ×` : '–')
  return [
    point.title,
    countText(point.connections),
    point.kind,
    countText(ours),
    countText(other),
    ratio(ours / other),
    countText(oursPerCore),
    countText(otherPerCore),
    ratio(oursPerCore / otherPerCore),
    latencyText(percentileOf(point.latency, 99), point.kind),
    latencyText(microsOf(theirs.latency.p99), theirs.kind),
  ]
}

const PUBLISHED = [
  'scenario',
  'connections',
  'CPUs',
  'kind',
  'requests/s',
  'mean',
  'P50',
  'P90',
  'P95',
  'P99',
]

function publishedRows({ points }: Reference): string[][] {
  return points.map(({ scenario, users, cpus, kind, perSecond, latency }) => [
    scenario,
    users === null ? 'best' : countText(users),
    countText(cpus),
    kind,
    countText(perSecond),
    ...[latency.mean, latency.p50, latency.p90, latency.p95, latency.p99].map((ms) =>
      latencyText(microsOf(ms), kind),
    ),
  ])
}

function microsOf(ms: number | null): number | null {
  return ms === null ? null : ms * 1000
}

function latencyText(micros: number | null, kind: Point['kind']): string {
  const text = microsText(micros)
  return kind === 'saturation' && micros !== null ? `(${text})` : text
}
