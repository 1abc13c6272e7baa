import { familyOf, kindOf } from './merge.js'
import type { Sample } from './sample.js'

/** Text formats of metrics. Only OpenMetrics has exemplars. */
export type MetricsFormat = 'prometheus' | 'openmetrics'

/** Content types of the formats. */
export const FORMAT_TYPES: Readonly<Record<MetricsFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Returns the format that an Accept field prefers. OpenMetrics must be named, because it is newer. */
export function acceptedFormat(accept: string): MetricsFormat {
  const quality = (type: string): number => {
    const ranges = accept
      .toLowerCase()
      .split(',')
      .filter((range) => range.trim().startsWith(type))
    return Math.max(0, ...ranges.map((range) => Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)))
  }
  const wanted = quality('application/openmetrics-text')
  return wanted > 0 && wanted >= quality('text/plain') ? 'openmetrics' : 'prometheus'
}

/**
 * Renders samples in the Prometheus text format 0.0.4 or in OpenMetrics 1.0.0. Series of a metric are grouped in
 * the order first seen, below one TYPE line, and one HELP line if `help` has a text.
 */
export function renderSamples(
  samples: readonly Sample[],
  help: Readonly<Record<string, string>> = {},
  format: MetricsFormat = 'prometheus',
): string {
  const families = new Map<string, Sample[]>()
  for (const sample of samples) {
    const name = familyOf(sample.name)
    const family = families.get(name)
    if (family === undefined) families.set(name, [sample])
    else family.push(sample)
  }
  let text = ''
  for (const [name, members] of families) {
    if (format === 'openmetrics') text += openFamilyText(name, members, help[name])
    else text += headText(name, members, escaped(help[name])) + members.map(sampleText).join('')
  }
  return format === 'openmetrics' ? `${text}# EOF\n` : text
}

/** Formats a label pair with an escaped value: `route="a\"b"`. */
export function label(name: string, value: string): string {
  return `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

/** In OpenMetrics, the name of a counter is that of its samples without `_total`. */
function openFamilyText(name: string, members: readonly Sample[], help: string | undefined): string {
  const family = kindOf(members[0]!.name) === 'counter' ? name.slice(0, -'_total'.length) : name
  return (
    headText(family, members, escaped(help)?.replaceAll('"', '\\"')) +
    members.map(sampleWithExemplar).join('')
  )
}

function headText(name: string, members: readonly Sample[], help: string | undefined): string {
  const line = help === undefined ? '' : `# HELP ${name} ${help}\n`
  return `${line}# TYPE ${name} ${kindOf(members[0]!.name)}\n`
}

function escaped(help: string | undefined): string | undefined {
  return help?.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function sampleText({ name, labels, value }: Sample): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${numberText(value)}\n`
}

function sampleWithExemplar(sample: Sample): string {
  const text = sampleText(sample)
  if (sample.exemplar === undefined) return text
  const { traceId, value, atS } = sample.exemplar
  return `${text.slice(0, -1)} # {trace_id="${traceId}"} ${value} ${atS}\n`
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return String(value)
}
