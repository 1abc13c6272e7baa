import { COMING_POLICIES, UNAVAILABLE, type Unavailable } from '../availability.js'
import { documentSchema } from '../schema/document.js'
import { CHAPTERS, type Chapter, REPEATED } from './chapters.js'
import { type KeyRow, keyRows } from './key-rows.js'

/** The manual of the document as Markdown. @param exampleOf the example of a chapter, YAML. */
export function manual(introduction: string, exampleOf: (chapter: Chapter) => string): string {
  const chapters = CHAPTERS.map((chapter) => section(chapter, exampleOf(chapter)))
  const list = CHAPTERS.map(({ at }) => `[${titleOf(at)}](#${anchorOf(at)})`).join(' · ')
  const coming = comingSection()
  return [`${introduction.trimEnd()}\n`, `${list}\n`, ...chapters, coming].join('\n')
}

/** What the validator knows and refuses, with what to write instead. */
function unavailableTable(): string[] {
  if (UNAVAILABLE.length === 0) return []
  const rows = UNAVAILABLE.map((row) => `| ${nameOf(row)} | ${cell(row.remedy)} |`)
  return [
    'These keys and values are known and refused.\n',
    '| what | instead |',
    '| --- | --- |',
    ...rows,
    '',
  ]
}

function comingSection(): string {
  const policies = [...COMING_POLICIES].map((name) => `\`${name}\``).join(', ')
  return [
    '## Not available yet\n',
    ...unavailableTable(),
    `These policies are known by name and refused: ${policies}.\n`,
    'There is no `gw top`.\n',
  ].join('\n')
}

/** The keys of a chapter that can be used. */
export function rowsOf({ at }: Chapter): readonly KeyRow[] {
  return keyRows(documentSchema)
    .filter(({ path }) => chapterOf(path) === at && !isUnavailable(path) && !isRepeated(path))
    .map(withoutUnavailableWords)
    .map(withPlaceOfKeys)
}

function isRepeated(path: string): boolean {
  return [...REPEATED.keys()].some((location) => isBelow(path, location))
}

function withPlaceOfKeys(row: KeyRow): KeyRow {
  const location = REPEATED.get(row.path)
  return location === undefined
    ? row
    : { ...row, description: `${row.description} Its keys are those of \`${location}\`.` }
}

/** A key stands with its neighbours, so the path of a chapter itself belongs to the chapter around it. */
function chapterOf(path: string): string {
  const around = CHAPTERS.filter(({ at }) => at === '' || isBelow(path, at))
  return around.reduce((longest, { at }) => (at.length > longest.length ? at : longest), '')
}

function isBelow(path: string, at: string): boolean {
  return path.startsWith(`${at}.`) || path.startsWith(`${at}[`)
}

function isUnavailable(path: string): boolean {
  return UNAVAILABLE.some(({ path: parts, values }) => {
    const location = pathOf(parts)
    return values === undefined && (path === location || isBelow(path, location))
  })
}

function withoutUnavailableWords(row: KeyRow): KeyRow {
  const words = UNAVAILABLE.filter(({ path }) => pathOf(path) === row.path).flatMap(
    ({ values }) => values ?? [],
  )
  return { ...row, type: words.reduce((type, word) => type.replace(`, \`${word}\``, ''), row.type) }
}

/** `*` stands for an item under the lists of the document, and for a name under its map of upstreams. */
function pathOf(parts: readonly string[]): string {
  return parts.reduce((path, part, i) => {
    if (part !== '*') return path === '' ? part : `${path}.${part}`
    return parts[i - 1] === 'upstreams' ? `${path}.NAME` : `${path}[]`
  }, '')
}

function nameOf({ path, values }: Unavailable): string {
  const at = pathOf(path)
  return values === undefined ? `\`${at}\`` : values.map((value) => `\`${at}: ${value}\``).join(', ')
}

function section(chapter: Chapter, example: string): string {
  const rows = rowsOf(chapter).map(
    ({ path, type, standard, description }) =>
      `| ${[`\`${path}\``, type, standard, description].map(cell).join(' | ')} |`,
  )
  return [
    `## ${titleOf(chapter.at)}\n`,
    `${chapter.text}\n`,
    `\`\`\`yaml\n${example.trimEnd()}\n\`\`\`\n`,
    '| key | type | default | meaning |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function titleOf(at: string): string {
  return at === '' ? 'The document' : at.replaceAll('[]', '')
}

function anchorOf(at: string): string {
  return titleOf(at).toLowerCase().replaceAll('.', '').replaceAll(' ', '-')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
