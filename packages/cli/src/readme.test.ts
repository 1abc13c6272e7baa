import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createProgram } from './program.js'

const README = new URL('../README.md', import.meta.url)
const BEGIN = '<!-- commands: written by readme.test.js with UPDATE_GOLDEN=1 -->\n'
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
  const options = command.options.filter((option) => !option.negate).map((option) => `\`${option.flags}\``)
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

test('the README lists all commands', () => {
  const readme = readFileSync(README, 'utf8')
  const begin = readme.indexOf(BEGIN) + BEGIN.length
  const end = readme.indexOf(END)
  assert.ok(begin >= BEGIN.length && end >= begin, 'the README has no section for the commands')
  if (process.env['UPDATE_GOLDEN'] === '1') {
    writeFileSync(README, readme.slice(0, begin) + table() + readme.slice(end))
  } else assert.equal(readme.slice(begin, end), table())
})
