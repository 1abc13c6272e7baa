import { readdirSync, readFileSync } from 'node:fs'

/** Root of the repository. */
export const ROOT = new URL('../../../../', import.meta.url)

/** A fenced block of a page. */
export interface Block {
  /** Page and line, for messages. */
  readonly place: string
  readonly language: string
  readonly text: string
}

/** A command of a page and the output that the page shows, or null if it shows none. */
export interface ShownCommand {
  readonly place: string
  readonly command: string
  readonly output: string | null
}

/** The guide with many processes. */
export const FLEET_PAGE = 'docs/guides/fleet.md'

/** The README and all other guides. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(new URL('docs/guides/', ROOT))
    .map((name) => `docs/guides/${name}`)
    .filter((page) => page !== FLEET_PAGE),
]

/** Returns the fenced blocks of a page. A block without a language contains commands. */
export function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(new URL(page, ROOT), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map((match) => ({
    place: `${page}:${text.slice(0, match.index).split('\n').length}`,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }))
}

/**
 * Returns the commands of a block. If its lines start with `$ `, the other lines are output. Otherwise each line is a
 * command, and two spaces begin an explanation.
 */
export function commandsOf({ place, text }: Block): readonly ShownCommand[] {
  const whole = text.replaceAll(/ \\\n +/g, ' ').trimEnd()
  if (!whole.startsWith('$ '))
    return whole
      .split('\n')
      .filter((line) => /^[^ ]/.test(line))
      .map((line) => ({ place, command: line.split('  ')[0] ?? '', output: null }))
  return whole.split(/^\$ /m).flatMap((part) => {
    const [command = '', ...lines] = part.trimEnd().split('\n')
    const output = lines.length === 0 ? null : lines.join('\n')
    return command === '' ? [] : [{ place, command, output }]
  })
}

/** Converts shown output to a pattern: `…` stands for any text, and on a line of its own for any lines. */
export function patternOf(shown: string): RegExp {
  const escaped = simplified(shown).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const lines = escaped.replaceAll(/^ ?…\n/gm, '(?:.*\n)*').replaceAll(/\n ?…$/gm, '(?:\n.*)*')
  return new RegExp(`^${lines.replaceAll('…', '.*')}$`)
}

/** Replaces what differs in each run: times, identifiers, process ids, memory, numbers of records, column widths. */
export function simplified(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\d+(?:\.\d+)?ms|\d+ ms\b|\b\d+[smh](?=, ready| *$)/gm, '<duration>')
    .replaceAll(/\b[0-9a-f-]{12,}\b/g, '<id>')
    .replaceAll(/\d+(?= +ready)|[\d.]+ MB|\d+(?= (received|delivered))/g, '<number>')
    .replaceAll(/(?<=^(bytes|200) +)\d[\d ]*$/gm, '<sizes>')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/(?: *\r?\n)+/g, '\n')
    .trim()
}
