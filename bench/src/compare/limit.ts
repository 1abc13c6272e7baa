export const METRICS = ['rps', 'cpu', 'p50', 'p99', 'rss'] as const
export type Metric = (typeof METRICS)[number]

/** How far a figure may move before a comparison fails, such as `rps<-5%`: requests a second fell by more than 5 %. */
export interface Limit {
  readonly metric: Metric
  readonly direction: '<' | '>'
  /** As a share with its sign: -0.05. */
  readonly change: number
  /** As it was written. */
  readonly text: string
}

const WORD = /\s*(<=?|>=?|[^\s<>]+)/y

interface Word {
  readonly text: string
  /** Counted from 1. */
  readonly column: number
}

/** Reads `rps<-5% or p99>+10%`; any of the limits fails a comparison. @throws Error with the place of the mistake. */
export function parseLimits(expression: string): Limit[] {
  const words = wordsOf(expression)
  if (words.length === 0) throw new Error('the limits are empty; write for example "rps<-5% or p99>+10%"')
  const limits: Limit[] = []
  for (let i = 0; i < words.length; i += 4) {
    limits.push(limitOf(words, i, expression))
    const joint = words[i + 3]
    if (joint === undefined) break
    if (joint.text !== 'or') throw mistake(joint, `expected "or", found "${joint.text}"`)
    if (words[i + 4] === undefined) throw mistake(joint, 'expected a limit behind "or"')
  }
  return limits
}

function limitOf(words: readonly Word[], from: number, expression: string): Limit {
  const [name, sign, amount] = [words[from], words[from + 1], words[from + 2]]
  const metric = METRICS.find((each) => each === name?.text)
  if (name === undefined || metric === undefined)
    throw mistake(name, `expected one of ${METRICS.join(', ')}, found "${name?.text}"`)
  if (sign?.text !== '<' && sign?.text !== '>')
    throw mistake(sign ?? endOf(expression), `expected "<" or ">" behind ${metric}`)
  const value = /^[+-]?\d+(?:\.\d+)?%$/.test(amount?.text ?? '')
    ? Number.parseFloat(amount!.text)
    : Number.NaN
  if (Number.isNaN(value))
    throw mistake(amount ?? endOf(expression), 'expected a change in percent such as -5% or +10%')
  return { metric, direction: sign.text, change: value / 100, text: `${metric}${sign.text}${amount!.text}` }
}

function wordsOf(expression: string): Word[] {
  return [...expression.matchAll(new RegExp(WORD, 'g'))].map((match) => ({
    text: match[1]!,
    column: match.index + match[0].length - match[1]!.length + 1,
  }))
}

function endOf(expression: string): Word {
  return { text: '', column: expression.trimEnd().length + 1 }
}

function mistake(word: Word | undefined, text: string): Error {
  return new Error(`limits, column ${word?.column ?? 1}: ${text}`)
}
