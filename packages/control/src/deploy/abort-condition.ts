import type { CanaryFigures } from '../store/canary.js'

/** Minimum number of responses for which a metric says something: a percentile needs one response above it. */
const MIN_RESPONSES = { errors: 20, p50: 20, p99: 100 } as const

type Metric = keyof typeof MIN_RESPONSES

/** A comparison of a condition, such as `p99 > 2x`. */
interface Term {
  readonly text: string
  readonly metric: Metric
  readonly isInclusive: boolean
  /** Share of responses, milliseconds, or a factor. */
  readonly value: number
  /** True if the value is a factor for the figure of the other gateways. */
  readonly isRelative: boolean
}

const TERM = /^(errors|p50|p99) *(>=?) *(\d{1,9}(?:\.\d{1,9})?)(%|x|ms)?$/

/** Parses a condition: terms such as `errors > 1%`, separated by `||`. `problem` names the first wrong term, or is null. */
export function parseAbortCondition(text: string): {
  readonly terms: readonly Term[]
  readonly problem: string | null
} {
  const parts = text.split('||').map((part) => part.trim())
  const terms = parts.flatMap((part) => termOf(part) ?? [])
  const wrong = parts.find((part) => termOf(part) === null)
  const use = 'use for example errors > 1%, errors > 2x, p99 > 2x or p50 >= 80ms, separated by ||'
  return { terms, problem: wrong === undefined ? null : `'${wrong}' is not a condition; ${use}` }
}

function termOf(text: string): Term | null {
  const [, metric, operator, number, unit] = TERM.exec(text) ?? []
  const isRelative = unit === 'x'
  if (number === undefined || (!isRelative && (metric === 'errors') !== (unit === '%'))) return null
  const value = unit === '%' ? Number(number) / 100 : Number(number)
  return { text, metric: metric as Metric, isInclusive: operator === '>=', value, isRelative }
}

/** Returns the terms that are true, and those that cannot be checked, each with the figures. */
export function checkTerms(terms: readonly Term[], canary: CanaryFigures, others: CanaryFigures) {
  const violated: string[] = []
  const notChecked: string[] = []
  for (const { text, metric, isInclusive, value, isRelative } of terms) {
    const needed = MIN_RESPONSES[metric]
    const [own, other] = [figureOf(canary, metric), figureOf(others, metric)]
    if (own === null || canary.responses < needed)
      notChecked.push(`'${text}': ${canary.responses} of the required ${needed} responses of the canary`)
    else if (isRelative && (other === null || others.responses < needed))
      notChecked.push(
        `'${text}': ${others.responses} of the required ${needed} responses of the other gateways`,
      )
    else {
      const limit = isRelative ? value * other! : value
      if (own > limit || (isInclusive && own === limit))
        violated.push(`${text}: ${shown(metric, own)} on the canary, ${shown(metric, other)} on the others`)
    }
  }
  return { violated, notChecked }
}

function figureOf({ errors, p50Ms, p99Ms }: CanaryFigures, metric: Metric): number | null {
  return metric === 'errors' ? errors : metric === 'p50' ? p50Ms : p99Ms
}

function shown(metric: Metric, value: number | null): string {
  if (value === null) return 'no responses'
  return metric === 'errors' ? `${(value * 100).toFixed(1)}%` : `${value.toFixed(1)} ms`
}
