import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { normalizeDocument } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { Ajv } from 'ajv'
import type { Command } from 'commander'
import { parseAllDocuments } from 'yaml'
import { createProgram } from './program.js'
import { gwInProcess } from './testing/in-process.js'

const ROOT = new URL('../../../', import.meta.url)
const PAGES = [
  'README.md',
  ...readdirSync(new URL('docs/guides/', ROOT)).map((name) => `docs/guides/${name}`),
]

interface Block {
  readonly place: string
  readonly language: string
  readonly text: string
}

const blocks: readonly Block[] = PAGES.flatMap((page) => {
  const text = readFileSync(new URL(page, ROOT), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map((match) => ({
    place: `${page}:${text.slice(0, match.index).split('\n').length}`,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }))
})

test('the YAML of every guide fits the schema of documents and policies', async () => {
  const { stdout } = await gwInProcess(['schema'])
  // Compiled quickly: it validates a few documents only.
  const ajv = new Ajv({ strict: false, inlineRefs: false, code: { optimize: false } })
  const validate = ajv.compile(JSON.parse(stdout) as object)
  const problems = blocks
    .filter(({ language }) => language === 'yaml')
    .flatMap(({ place, text }) =>
      parseAllDocuments(text).flatMap((parsed) => {
        if (!('toJS' in parsed)) return []
        if (parsed.errors.length > 0) return [`${place}: ${parsed.errors[0]?.message}`]
        const value: unknown = parsed.toJS()
        if (hasPlugins(value)) return []
        return validate(documentOf(value)) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`]
      }),
    )
  assert.deepEqual(problems, [])
})

test('guides and examples use no deprecated keys', () => {
  const examples = readdirSync(new URL('examples/', ROOT))
    .map((name) => `examples/${name}/gateway.yaml`)
    .filter((place) => existsSync(new URL(place, ROOT)))
    .map((place) => ({ place, language: 'yaml', text: readFileSync(new URL(place, ROOT), 'utf8') }))
  const found = [...blocks, ...examples]
    .filter(({ language }) => language === 'yaml')
    .flatMap(({ place, text }) =>
      parseAllDocuments(text).flatMap((parsed) => {
        const { deprecations } = normalizeDocument(
          documentOf('toJS' in parsed ? parsed.toJS() : null),
          catalog,
        )
        return deprecations.map(({ message }) => `${place}: ${message}`)
      }),
    )
  assert.deepEqual(found, [])
})

/** Completes an excerpt: a list holds policies, and an object with `use` is one of them. */
function documentOf(value: unknown): object {
  const policies = Array.isArray(value) ? value : isPolicy(value) ? [value] : null
  if (policies !== null) return { version: 1, routes: [{ id: 'excerpt', respond: {}, policies }] }
  return { version: 1, ...(value as object) }
}

/** True if the schema does not know the policies of the document. */
function hasPlugins(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'plugins' in value
}

function isPolicy(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'use' in value && catalog.has(String(value.use))
}

test('every gw command in a guide exists, with its options', () => {
  const program = createProgram()
  const problems = blocks
    .filter(({ language }) => language === '' || language === 'bash' || language === 'sh')
    .flatMap(({ place, text }) => commandsIn(text).flatMap((words) => commandProblems(program, place, words)))
  assert.deepEqual(problems, [])
})

/** Returns the words behind `gw` of each command; a run of spaces begins an explanation. */
function commandsIn(text: string): readonly (readonly string[])[] {
  const calls = text.matchAll(/(?:^|[|;&(] *|^\$ |sudo |npx )(?:npx )?gw +([^\n|;&)>]*)/gm)
  return [...calls].map(([, call = '']) => (call.split(/ {2,}| #/)[0] ?? '').trim().split(/ +/))
}

function commandProblems(program: Command, place: string, words: readonly string[]): readonly string[] {
  let command = program
  const options = optionsOf(program)
  for (const word of words.filter((part) => !part.startsWith('-'))) {
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (child === undefined) break
    command = child
    options.push(...optionsOf(child)) // a command takes the options of the commands above it
  }
  if (command === program && !words[0]?.startsWith('-'))
    return [`${place}: no command 'gw ${words.join(' ')}'`]
  return words
    .map((word) => word.split('=')[0] ?? '')
    .filter((word) => /^--?[a-z]/i.test(word) && word !== '--help' && !options.includes(word))
    .map((word) => `${place}: 'gw ${command.name()}' has no option '${word}'`)
}

function optionsOf(command: Command): (string | undefined)[] {
  return command.options.flatMap(({ long, short }) => [long, short])
}
