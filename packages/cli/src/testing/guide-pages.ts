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

/** The README and all guides. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(new URL('docs/guides/', ROOT)).map((name) => `docs/guides/${name}`),
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
