import { familyOf, kindOf } from './merge.js'
import type { Sample } from './sample.js'

/** Content type of the Prometheus text format. */
export const TEXT_FORMAT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Renders samples in the Prometheus text format 0.0.4. Series of a metric are grouped in the order first
 * seen, below one TYPE line, and one HELP line if `help` has a text.
 */
export function renderSamples(
  samples: readonly Sample[],
  help: Readonly<Record<string, string>> = {},
): string {
  const families = new Map<string, Sample[]>()
  for (const sample of samples) {
    const name = familyOf(sample.name)
    const family = families.get(name)
    if (family === undefined) families.set(name, [sample])
    else family.push(sample)
  }
  let text = ''
  for (const [name, members] of families) text += familyText(name, members, help[name])
  return text
}

/** Formats a label pair with an escaped value: `route="a\"b"`. */
export function label(name: string, value: string): string {
  return `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

function familyText(name: string, members: readonly Sample[], help: string | undefined): string {
  let text =
    help === undefined ? '' : `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`
  text += `# TYPE ${name} ${kindOf(members[0]!.name)}\n`
  for (const member of members) {
    const labels = member.labels === '' ? '' : `{${member.labels}}`
    text += `${member.name}${labels} ${numberText(member.value)}\n`
  }
  return text
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return String(value)
}
