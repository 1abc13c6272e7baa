import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { proseFindings } from './prose.mjs'

const LONG = `${'word '.repeat(29)}end.`
const CASES = [
  { rule: 'opener', name: 'a.ts', text: '/** Whether it is open. */\nexport const isOpen = true\n' },
  { rule: 'phrase', name: 'a.ts', text: "const message = 'the limit of its own connections is reached'\n" },
  { rule: 'phrase', name: 'a.md', text: '# Title\n\nIt starts anew.\n' },
  { rule: 'sentence', name: 'a.md', text: `# Title\n\n${LONG}\n` },
  { rule: 'undocumented', name: 'a.ts', text: '\nexport function open() {}\n' },
]
const CLEAN = [
  { name: 'a.ts', text: '/** True if the socket is open. */\nexport const isOpen = true\n' },
  { name: 'a.md', text: '```\nwhether anew, as code\n```\n' },
  { name: 'a.test.ts', text: '/** Whether tests are checked. */\n' },
]

for (const { rule, name, text } of CASES)
  test(`the prose linter reports ${rule} in ${name}: ${text.slice(0, 40).trim()}`, (t) => {
    assert.deepEqual(rulesBroken(t, name, text), [rule])
  })

for (const { name, text } of CLEAN)
  test(`the prose linter accepts ${name}: ${text.slice(0, 40).trim()}`, (t) => {
    assert.deepEqual(rulesBroken(t, name, text), [])
  })

function rulesBroken(t, name, text) {
  const root = mkdtempSync(join(tmpdir(), 'prose-'))
  t.after(() => rmSync(root, { recursive: true }))
  const git = (...args) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  git('init', '--quiet')
  writeFileSync(join(root, name), text)
  git('add', '.')
  git('commit', '--quiet', '-m', 'short')
  return Object.entries(proseFindings(root))
    .filter(([, findings]) => findings.length > 0)
    .map(([rule]) => rule)
}
