import { MASK, maskedUrl } from '../lib/masking.js'

/** Options whose values may be secrets. */
const SECRET = /^(--header|--data|-H)(=?)(.*)$/s

/**
 * Returns the command line for reports, with `***` instead of possible secrets.
 * @param words words after `gw`
 */
export function shownCommand(words: readonly string[]): string {
  const shown = words.map((word, i) => {
    if (/^(--header|--data|-H)$/.test(words[i - 1] ?? '')) return shownValue(word)
    const [, option, sign, value = ''] = SECRET.exec(word) ?? []
    if (option !== undefined && value !== '') return option + sign + shownValue(value)
    return word.includes('://') ? maskedUrl(word) : word
  })
  return ['gw', ...shown.map(quoted)].join(' ')
}

/** File names and header names are not secret. */
function shownValue(value: string): string {
  if (value.startsWith('@')) return value
  const [, name] = /^([\w-]+:)/.exec(value) ?? []
  return name === undefined ? MASK : `${name} ${MASK}`
}

function quoted(word: string): string {
  return /^[\w./:,=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
