import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

/** Hides the package from a process. */
const HOOKS = `export async function resolve(name, context, next) {
  if (name !== '@sluice/policies-xml') return next(name, context)
  const error = new Error("Cannot find package '@sluice/policies-xml' imported from catalog.js")
  throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
}`

const PROGRAM = `
import { register } from 'node:module'
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(HOOKS)}`)})
const { lazyCatalog } = await import('${new URL('./catalog.js', import.meta.url).href}')
const catalog = lazyCatalog()
await catalog.load(() => true)
await catalog.bodies.xml.load()
const messageOf = (run) => { try { run() } catch ({ message }) { return message } }
console.log(JSON.stringify({
  names: [...catalog.keys()],
  policy: messageOf(() => catalog.get('xsd').compile({ schemas: [] }, {})),
  condition: messageOf(() => catalog.bodies.xml.compile('/a', {})),
}))`

test('without the package, its policies and conditions on XML are refused with the remedy', () => {
  const args = ['--input-type=module', '--no-warnings', '--eval', PROGRAM]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(stderr, '')
  const { names, policy, condition } = JSON.parse(stdout) as Record<string, string>
  assert.ok(names?.includes('xsd') && names.includes('jwt'))
  assert.match(policy ?? '', /the policy 'xsd' needs the package.*run npm install @sluice\/policies-xml/)
  assert.match(condition ?? '', /req\.body\.xml need the package.*run npm install @sluice\/policies-xml/)
})
