import { visibleText } from '@sluice/core/visible-text'

const COLORS: Readonly<Record<string, string>> = { warn: '\u001b[33m', error: '\u001b[31m' }
const PLAIN = '\u001b[0m'
const NAME_WIDTH = 22

/**
 * Formats an operation log entry for a terminal: `08:15:02.123 WARN worker.silent worker=2 pid=4711`. Stacks
 * and other multi-line texts follow below it. Control characters from outside are made visible.
 */
export function consoleLine(entry: Readonly<Record<string, unknown>>, hasColors: boolean): string {
  const { time, level, event, ...fields } = entry
  const word = String(level).toUpperCase().padEnd(5)
  const color = hasColors ? (COLORS[String(level)] ?? '') : ''
  const head = `${clockTime(String(time))} ${color}${word}${color === '' ? '' : PLAIN} ${String(event).padEnd(NAME_WIDTH)}`
  const all = Object.entries(fields)
  const short = all
    .filter(([, value]) => !isLong(value))
    .map(([name, value]) => `${name}=${valueText(value)}`)
  const long = all.filter(([, value]) => isLong(value)).flatMap(([, value]) => String(value).split('\n'))
  const below = long.map((line) => `    ${visibleText(line.trim())}\n`)
  return `${`${head} ${short.join(' ')}`.trimEnd()}\n${below.join('')}`
}

/** Formats the local time of day with milliseconds. */
function clockTime(time: string): string {
  const date = new Date(time)
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()]
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0')
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')}.${milliseconds}`
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\n')
}

/** Formats a value as JSON, without quotes if it is a single word. */
function valueText(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"'=\\]+$/.test(value)
  return visibleText(isWord ? value : (JSON.stringify(value) ?? 'null'))
}
