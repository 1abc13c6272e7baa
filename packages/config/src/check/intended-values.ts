const TRUE = new Set(['true', 'yes', 'y', 'on', '1', 'enabled', 'enable'])
const FALSE = new Set(['false', 'no', 'n', 'off', '0', 'disabled', 'disable'])

/** Units in common spellings, and in the notation of the document. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/^(ms|msecs?|millis|milliseconds?)$/, 'ms'],
  [/^(s|secs?|seconds?)$/, 's'],
  [/^(m|mins?|minutes?)$/, 'm'],
  [/^(h|hrs?|hours?)$/, 'h'],
  [/^(d|days?)$/, 'd'],
  [/^(b|bytes?)$/, 'b'],
  [/^(k|kb|kib|ki|kilobytes?)$/, 'kb'],
  [/^(m|mb|mib|mi|megabytes?)$/, 'mb'],
  [/^(g|gb|gib|gi|gigabytes?)$/, 'gb'],
  [/^(%|percent|pct)$/, '%'],
]
const NUMBER = String.raw`(\d+(?:[_,]\d{3})*(?:\.\d+)?|\.\d+)`
const QUANTITY = new RegExp(String.raw`^${NUMBER}\s*([a-z%]+)$`)
const RATE = new RegExp(
  String.raw`^${NUMBER}\s*(?:requests?|reqs?|calls?|r)?\s*(?:\/|per\s|p(?=[smhd]$))\s*(?:1\s*)?([a-z]+)$`,
)
/** Matches a host with a port, or with a dot. */
const HOST =
  /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|\[[0-9a-f:.]+\]|[a-z0-9-]+(?=:\d))(?::\d{1,5})?(?:\/[\w./-]*)?$/i
/** Maximum length of a value that is shown in a remedy. */
const MAX_LENGTH = 60
const SCHEMES = ['http', 'https', 'redis', 'udp']

/**
 * Returns possible corrections of a scalar in the notation of another system, such as `yes`, `100/minute`,
 * `16 KiB` or `0.1` for 10 %. The most likely one comes first. The caller keeps the valid ones.
 */
export function intendedValues(value: string | number | boolean): readonly (string | number | boolean)[] {
  const written = String(value).trim()
  if (written.length > MAX_LENGTH) return []
  const text = written.toLowerCase()
  return [
    ...(TRUE.has(text) ? [true] : []),
    ...(FALSE.has(text) ? [false] : []),
    ...rates(text),
    ...quantities(text),
    ...percentages(text),
    ...numbers(text),
    ...(HOST.test(text) ? SCHEMES.map((scheme) => `${scheme}://${written}`) : []),
    ...(/^[a-z]+:\/\//.test(text) ? [written.replace(/^[A-Za-z]+:\/\//, '').replace(/\/$/, '')] : []),
  ]
}

function rates(text: string): string[] {
  const [, count, unit] = RATE.exec(text) ?? []
  return unitsOf(unit ?? '').map((one) => `${plainNumber(count ?? '')}/${one}`)
}

function quantities(text: string): (string | number)[] {
  const [, amount, unit] = QUANTITY.exec(text) ?? []
  return unitsOf(unit ?? '').flatMap((one) => {
    const number = plainNumber(amount ?? '')
    return one === '%' ? [`${number}%`, Number(number), Number(number) / 100] : [`${number}${one}`]
  })
}

/** Returns the percentages of a fraction: `0.1` means 10 % more often than 0.1 %. */
function percentages(text: string): string[] {
  const number = Number(text)
  if (text === '' || !(number >= 0)) return []
  const whole = `${Number((number * 100).toFixed(6))}%`
  return number > 0 && number < 1 ? [whole, `${number}%`] : [`${number}%`]
}

function numbers(text: string): number[] {
  return new RegExp(`^${NUMBER}$`).test(text) ? [Number(plainNumber(text))] : []
}

/** Returns a number without separators, and with a digit before the point. */
function plainNumber(text: string): string {
  const digits = text.replaceAll(/[_,]/g, '')
  return digits.startsWith('.') ? `0${digits}` : digits
}

function unitsOf(unit: string): string[] {
  return UNITS.filter(([pattern]) => pattern.test(unit)).map(([, written]) => written)
}
