import { MASK, maskedUrl } from '@sluice/bench'

/** The options whose values may be secrets, and what of a value is shown. */
const SECRET: readonly (readonly [option: string, shown: (value: string) => string])[] = [
  ['--header', shownHeader],
  ['-H', shownHeader],
  ['--data', shownData],
]

/** The command line as reports show it: `***` where a secret may stand. @param words behind `gw` */
export function shownCommand(words: readonly string[]): string {
  const shown: string[] = []
  for (let i = 0; i < words.length; i++) {
    shown.push(shownWord(words[i]!))
    const option = SECRET.find(([name]) => name === words[i])
    // Its value is a word of its own, whatever that looks like.
    if (option !== undefined && i + 1 < words.length) shown.push(option[1](words[++i]!))
  }
  return ['gw', ...shown.map(quoted)].join(' ')
}

/** An option and its value may be one word. */
function shownWord(word: string): string {
  for (const [option, shown] of SECRET) {
    const start = option.startsWith('--') ? `${option}=` : option
    if (word !== option && word.startsWith(start)) return start + shown(word.slice(start.length))
  }
  return word.includes('://') ? maskedUrl(word) : word
}

/** The name of a file is no header. */
function shownHeader(line: string): string {
  if (line.startsWith('@')) return line
  const colon = line.indexOf(':')
  return colon === -1 ? MASK : `${line.slice(0, colon)}: ${MASK}`
}

/** The name of a file is no body. */
function shownData(data: string): string {
  return data.startsWith('@') ? data : MASK
}

function quoted(word: string): string {
  return /^[\w./:,=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
