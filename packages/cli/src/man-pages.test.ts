import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { createProgram } from './program.js'

const FOLDER = fileURLToPath(new URL('../dist/man/', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../package.json', import.meta.url))

const commands = createProgram().commands.filter((command) => !command.name().startsWith('__'))
const pages = ['gw', ...commands.map((command) => `gw-${command.name()}`).sort()].map((name) => `${name}.1`)

/** Renders a page. Its text has no escapes of the terminal, and its lines are not broken. */
function rendered(name: string): string {
  const args = ['-man', '-Tutf8', '-ww', '-P-c', '-rLL=2000n', FOLDER + name]
  const { stdout, stderr, status } = spawnSync('groff', args, { encoding: 'utf8' })
  assert.deepEqual([status, stderr], [0, ''], name)
  return stdout.replace(/.\u0008/g, '').replace(/ +/g, ' ')
}

const hasGroff = spawnSync('groff', ['-v']).status === 0

test('the package lists a manual page for every command', () => {
  const text = readFileSync(PACKAGE, 'utf8')
  const description = JSON.parse(text) as { man: string[] }
  const expected = pages.map((name) => `./dist/man/${name}`)
  assert.deepEqual(readdirSync(FOLDER).sort(), [...pages].sort())
  if (process.env['UPDATE_GOLDEN'] === '1')
    writeFileSync(PACKAGE, `${JSON.stringify({ ...description, man: expected }, null, 2)}\n`)
  else assert.deepEqual(description.man, expected)
})

test('a page has the usual sections, and no text begins like a request of roff', () => {
  for (const name of pages) {
    const page = readFileSync(FOLDER + name, 'utf8')
    assert.match(
      page,
      /^\.TH GW\S* 1 "" "Sluice \d[^"]*" "Sluice Manual"\n\.nh\n\.ad l\n\.SH NAME\ngw\S* \\- /,
    )
    for (const title of ['SYNOPSIS', 'OPTIONS', 'SEE ALSO'])
      assert.ok(page.includes(`\n.SH ${title}\n`), name)
    assert.deepEqual(page.match(/^[.'](?!(TH|SH|SS|TP|PP|br|nf|fi|nh|ad l)\b).*/gm), null, name)
  }
})

test('pages describe all options and examples as they are', {
  skip: !hasGroff && process.env['CI'] !== 'true' && 'groff is not installed (apt-get install groff)',
}, () => {
  const main = rendered('gw.1')
  assert.match(main, /ENVIRONMENT\n[\s\S]*GW_CONTROL_SERVER/)
  for (const top of commands) {
    assert.ok(main.includes(` ${top.description()}\n`), top.name())
    const page = rendered(`gw-${top.name()}.1`)
    const walk = (command: Command): void => {
      for (const option of command.options.filter((one) => !one.hidden)) {
        assert.ok(
          ` ${page}`.includes(` ${option.flags}\n`) || page.includes(` ${option.flags} `),
          option.flags,
        )
        assert.ok(page.includes(` ${option.description}`), option.description)
      }
      const { examples } = command as Command & { readonly examples: readonly string[] }
      for (const example of examples) {
        const lines = example.split('\n').map((line) => line.trim().replace(/ +/g, ' '))
        for (const line of lines) assert.ok(page.includes(` ${line}\n`), line)
      }
      command.commands.forEach(walk)
    }
    walk(top)
  }
})
