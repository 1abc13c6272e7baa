import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { assertIdentity, scratchDir, until } from '../../testing.js'
import { sampleShipment } from '../testing/sample-shipment.js'
import { shipTo } from '../testing/shipping.js'
import { CustomOutput } from './output.js'

/** Module of a custom output that writes records to a file. */
const FILE_OUTPUT = `
import { appendFileSync } from 'node:fs'
export default function openOutput({ file }, report) {
  return {
    async deliver(shipment) {
      for (let i = 0; i < shipment.count; i++) appendFileSync(file, shipment.idOf(i) + ' ' + shipment.jsonOf(i) + '\\n')
      return { kind: 'answered', refused: [], again: [] }
    },
    async close() { report('closed') },
  }
}
`

/** Returns a module whose `deliver` evaluates an expression. */
function delivering(expression: string): string {
  return `export default () => ({ async deliver(shipment) { return ${expression} }, async close() {} })`
}

function outputOf(t: TestContext, source: string, name = 'target.mjs'): CustomOutput {
  const from = scratchDir()
  writeFileSync(join(from, name), source)
  const output = new CustomOutput({ module: `./${name}`, from, options: {} }, () => {})
  t.after(() => output.close())
  return output
}

test('the traffic log is delivered by a custom module', async (t) => {
  const from = scratchDir()
  const file = join(from, 'records')
  writeFileSync(join(from, 'target.mjs'), FILE_OUTPUT)
  const { sink, problems, log } = shipTo(t, {
    kind: 'custom',
    module: './target.mjs',
    from,
    options: { file },
  })
  const ids = log(200)
  await until(() => sink.identity().indexed === 200, `all are delivered; ${problems.join('; ')}`)
  await sink.close(5000)
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  assert.deepEqual(lines.map((line) => JSON.parse(line.slice(line.indexOf(' '))).id).sort(), ids.sort())
  assert.equal(new Set(lines.map((line) => line.split(' ')[0])).size, 200)
  assert.ok(problems.includes('closed'))
  assertIdentity(sink.identity())
})

test('a package is found from the directory of the gateway', async (t) => {
  const from = scratchDir()
  const dir = join(from, 'node_modules', 'my-target')
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'package.json'), '{ "name": "my-target", "type": "module", "main": "index.js" }')
  writeFileSync(join(dir, 'index.js'), delivering("{ kind: 'unfit', status: 413, reason: 'no' }"))
  const output = new CustomOutput({ module: 'my-target', from, options: {} }, () => {})
  t.after(() => output.close())
  assert.deepEqual(await output.deliver(sampleShipment(['{}'])), { kind: 'unfit', status: 413, reason: 'no' })
})

test('a module installed later is found by the next attempt', async (t) => {
  const from = scratchDir()
  const output = new CustomOutput({ module: './late.mjs', from, options: {} }, () => {})
  t.after(() => output.close())
  const first = await output.deliver(sampleShipment(['{}']))
  assert.ok(first.kind === 'failed' && first.reason.includes('late.mjs'), JSON.stringify(first))
  writeFileSync(join(from, 'late.mjs'), delivering("{ kind: 'answered', refused: [], again: [] }"))
  assert.equal((await output.deliver(sampleShipment(['{}']))).kind, 'answered')
})

for (const [what, source, reason] of [
  ['exports no function', 'export const a = 1', /default export of .* is not a function/],
  ['opens something else', 'export default () => ({})', /without deliver or close/],
  ['fails to open', "export default () => { throw new Error('no broker') }", /no broker/],
  ['throws', delivering("(() => { throw new Error('oops') })()"), /oops/],
  ['answers nonsense', delivering('undefined'), /unknown kind/],
  ['leaves out its lists', delivering("{ kind: 'answered' }"), /without a 'refused' or 'again' list/],
  [
    'names a record that is none',
    delivering("{ kind: 'answered', refused: [], again: [7] }"),
    /the record index 7, but the shipment has 1 records/,
  ],
  [
    'names a record twice',
    delivering("{ kind: 'answered', refused: [{ index: 0 }], again: [0] }"),
    /lists a record twice/,
  ],
] as const) {
  test(`a target that ${what} is reported as an outage`, async (t) => {
    const delivery = await outputOf(t, source).deliver(sampleShipment(['{}']))
    assert.ok(delivery.kind === 'failed', JSON.stringify(delivery))
    assert.match(delivery.reason, reason)
  })
}
