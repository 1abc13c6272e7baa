import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createProgram } from './program.js'

const REFERENCE = new URL('../../../docs/reference/cli.md', import.meta.url)
const BEGIN = '<!-- commands: written by cli-reference.test.js with UPDATE_GOLDEN=1 -->\n'
const END = '<!-- end of commands -->'

function rows(command: Command, path: string): string[] {
  const children = command.commands.filter((child) => !child.name().startsWith('__'))
  const below = children.flatMap((child) => rows(child, `${path} ${child.name()}`))
  // What takes a document does something without them.
  if (below.length > 0 && command.registeredArguments.length === 0) return below
  const operands = command.registeredArguments.map((argument) => {
    const name = argument.name().toUpperCase()
    return argument.required ? ` ${name}` : ` [${name}]`
  })
  const options = command.options
    .filter((option) => !option.negate && !option.hidden)
    .map((option) => `\`${option.flags}\``)
  return [`| \`${path}${operands.join('')}\` | ${command.description()} | ${options.join(' ')} |`, ...below]
}

function table(): string {
  const lines = [
    '| command | what it does | options |',
    '| --- | --- | --- |',
    ...rows(createProgram(), 'gw'),
  ]
  return `${lines.join('\n')}\n`
}

test('the reference lists all commands', () => {
  const page = readFileSync(REFERENCE, 'utf8')
  const begin = page.indexOf(BEGIN) + BEGIN.length
  const end = page.indexOf(END)
  assert.ok(begin >= BEGIN.length && end >= begin, 'the reference has no section for the commands')
  if (process.env['UPDATE_GOLDEN'] === '1') {
    writeFileSync(REFERENCE, page.slice(0, begin) + table() + page.slice(end))
  } else assert.equal(page.slice(begin, end), table())
})
