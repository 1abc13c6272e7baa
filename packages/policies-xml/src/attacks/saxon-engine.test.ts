import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Script } from 'node:vm'
import { compileSef } from '../engines/xslt/saxon/compile-sef.js'
import { engineOptions } from '../engines/xslt/saxon/engine-process.js'
import { Sandbox } from '../engines/xslt/saxon/sandbox/sandbox.js'
import { compileInSandbox, StylesheetSandbox } from '../engines/xslt/saxon/sandbox/stylesheet-sandbox.js'
import { SaxonRunner } from '../engines/xslt/saxon/saxon-runner.js'
import { stylesheet, template } from '../transform/xslt/testing/stylesheets.js'

/**
 * Tests what SaxonJS can do with a stylesheet that should have been refused. All stylesheets go to the engine
 * directly, bypassing the checks of xslt-code.test.ts.
 */

const SECRET = 'hunter2-planted'
const LIMITS = { timeoutMs: 10_000, maxOutputBytes: 1_000_000 }
const INPUT = { params: [], isJson: false, maxOutputChars: 10_000 } as const
const JS = 'http://saxonica.com/ns/globalJS'
const NAMES = `xmlns:js="${JS}" xmlns:ixsl="http://saxonica.com/ns/interactiveXSLT" xmlns:map="http://www.w3.org/2005/xpath-functions/map" xmlns:xs="http://www.w3.org/2001/XMLSchema"`

let folder = ''
let origin = ''
let requests = 0

const STATIC_PROBES: readonly string[] = [
  "js:eval('process.env.SLUICE_PLANTED')",
  "ixsl:get(ixsl:window(), 'plantedText')",
  "unparsed-text('file://FOLDER/secret.txt')",
  "doc('ORIGIN/')",
  "environment-variable('SLUICE_PLANTED')",
]

const server = createServer((_req, res) => {
  requests++
  res.end(SECRET)
})

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'saxon-'))
  writeFileSync(join(folder, 'secret.txt'), SECRET)
  writeFileSync(join(folder, 'secret.xml'), `<s>${SECRET}</s>`)
  process.env['SLUICE_PLANTED'] = SECRET
  Object.assign(globalThis, { planted: () => SECRET, plantedText: SECRET })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

after(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

/** XPath expressions that search for the planted secrets or leave a trace. */
const PROBES: readonly string[] = [
  'js:planted()',
  "js:eval('plantedText')",
  "js:eval('process.env.SLUICE_PLANTED')",
  "js:Function('return plantedText')",
  "js:require('node:fs')",
  "js:setTimeout('1', 1)",
  "js:fetch('ORIGIN')",
  "ixsl:eval('this.constructor.constructor(&quot;return process&quot;)().env.SLUICE_PLANTED')",
  "ixsl:eval('import(&quot;node:fs&quot;)')",
  "ixsl:get(ixsl:window(), 'plantedText')",
  "ixsl:get(ixsl:window(), 'process.env.SLUICE_PLANTED')",
  "ixsl:call(ixsl:window(), 'planted', [])",
  "ixsl:call(ixsl:get(map{}, 'constructor'), 'constructor', ['return plantedText'])",
  "ixsl:call(ixsl:get(map{}, 'constructor.constructor'), 'call', [(), 'return process'])",
  "ixsl:call(ixsl:get(., 'constructor.constructor'), 'call', [(), 'return process.env'])",
  "ixsl:get(., 'ownerDocument.constructor.constructor.prototype.constructor.name')",
  "ixsl:call(ixsl:get(function($x) {$x}, 'constructor'), 'constructor', ['return process'])",
  "function-lookup(QName(concat('http://saxonica.com/ns/', 'globalJS'), 'eval'), 1)('plantedText')",
  "doc('FOLDER/secret.xml')",
  "document('file://FOLDER/secret.xml')",
  "unparsed-text('file://FOLDER/secret.txt')",
  "unparsed-text-lines('FOLDER/secret.txt')",
  "collection('FOLDER?select=*.xml')",
  "doc('ORIGIN/')",
  "json-doc('ORIGIN/')",
  "unparsed-text('ORIGIN/')",
  "environment-variable('SLUICE_PLANTED')",
  'available-environment-variables()',
  "transform(map{'stylesheet-location': 'FOLDER/secret.xml', 'source-node': .})?output",
]

test('nothing that was planted beside the sandbox, in this very process, is found by a stylesheet', () => {
  const branches = PROBES.map(
    (probe, i) => `<xsl:when test="$n = ${i}"><xsl:sequence select="${addressed(probe)}"/></xsl:when>`,
  )
  const branch = `<xsl:choose>${branches.join('')}<xsl:otherwise>control</xsl:otherwise></xsl:choose>`
  const sandbox = sandboxOf(`<xsl:param name="n"/>${template(`<o>${branch}</o>`)}`)
  PROBES.forEach((probe, n) => {
    const outcome = JSON.stringify(sandbox.run('<a/>', { ...INPUT, params: [['n', n]] }, 10_000))
    assert.doesNotMatch(outcome, /hunter2|SLUICE|control/, probe)
    assert.equal(requests, 0)
  })
  const control = sandbox.run('<a/>', { ...INPUT, params: [['n', -1]] }, 10_000)
  assert.match(JSON.stringify(control), /control/)
})

for (const probe of STATIC_PROBES) {
  test(`nothing is found while a stylesheet is compiled by ${probe}`, () => {
    const param = `<xsl:param name="p" static="yes" select="${addressed(probe)}"/>`
    assert.doesNotMatch(inSandbox(`${param}${template('{$p}')}`), /hunter2|SLUICE/)
    assert.equal(requests, 0)
  })
}

test('bodies that are evaluated find nothing either', async () => {
  const text = template('<xsl:evaluate xpath="string(/d/u)"/>')
  const runner = await runnerFor(text)
  for (const expression of [
    `Q{${JS}}eval('plantedText')`,
    `Q{${JS}}planted()`,
    `doc('${folder}/secret.xml')`,
  ]) {
    assert.doesNotMatch(textOf(await runner.run(input(`<d><u>${expression}</u></d>`), LIMITS)), /hunter2/)
  }
})

test('what a stylesheet prints does not pile up in its sandbox', () => {
  const sandbox = new Sandbox({ files: [], argv: [] })
  const printing = `platform.load('printing', (...given) => {
    for (let i = 0; i < 2000; i++) given[6].log('x'.repeat(10_000))
    for (let i = 0; i < 2000; i++) given[0]('fs').writeSync(1, 'x'.repeat(10_000))
  }); String(platform.printed.join('').length)`
  const kept = Number(sandbox.run(new Script(printing), {}, 10_000))
  assert.ok(kept > 0 && kept < 1_000_000, `${kept} characters`)
})

test('the engine writes no files', () => {
  const path = join(folder, 'written.xml')
  const script = `require(&quot;fs&quot;).writeFileSync(&quot;${path}&quot;, 1)`
  inSandbox(template(`<xsl:result-document href="file://${path}"><o/></xsl:result-document><p/>`))
  inSandbox(template(`<xsl:sequence select="js:eval('${script}')"/>`))
  assert.ok(!existsSync(path))
})

test('every object in the sandbox is of the sandbox, so that no constructor leads out of it', () => {
  const sandbox = new Sandbox({ files: [['/a.xml', '<a/>']], argv: [] })
  sandbox.load('saxon-js')
  const found = sandbox.run(new Script(WALK), {}, 20_000)
  assert.match(found, /^\d{4,} objects, strangers: $/)
})

/** Visits everything reachable from the global object, through properties, accessors and prototypes. */
const WALK = `(() => {
  const seen = new Set(), strangers = [], open = [[globalThis, 'globalThis']]
  const inner = Object.getPrototypeOf({})
  while (open.length > 0) {
    const [value, path] = open.pop()
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue
    seen.add(value)
    let root = value
    while (Object.getPrototypeOf(root) !== null) root = Object.getPrototypeOf(root)
    if (root !== inner && root !== value) strangers.push(path)
    if (typeof value === 'function' && !(value instanceof Function) && value !== Function.prototype) strangers.push(path)
    if (value instanceof Map) value.forEach((each, key) => open.push([each, path + '.' + String(key)]))
    open.push([Object.getPrototypeOf(value), path + '.__proto__'])
    for (const key of Reflect.ownKeys(value)) {
      const { value: held, get, set } = Reflect.getOwnPropertyDescriptor(value, key)
      for (const each of [held, get, set]) open.push([each, path + '.' + String(key)])
    }
  }
  return seen.size + ' objects, strangers: ' + strangers.slice(0, 5).join(' ')
})()`

test('a script in the sandbox finds the language and neither Node.js, clocks nor shared memory', () => {
  const sandbox = new Sandbox({ files: [], argv: [] })
  sandbox.load('saxon-js')
  const names = sandbox.run(new Script("Object.getOwnPropertyNames(globalThis).sort().join(' ')"), {}, 5000)
  assert.doesNotMatch(
    ` ${names} `,
    / (?:process|require|global|Buffer|fetch|setTimeout|queueMicrotask|structuredClone|URL|console|performance|WebAssembly|SharedArrayBuffer|Atomics|planted|plantedText|input) /,
  )
  for (const code of [
    "eval('1')",
    "new Function('return 1')()",
    "(async () => {}).constructor('return 1')",
    "this.constructor.constructor('return process')()",
    "Reflect.construct(Function, ['return this'])",
    "platform.modules.fs.readFileSync.constructor('return process')()",
    "platform.load.constructor('return process')()",
  ]) {
    const attempt = `(() => { try { return 'ran: ' + ${code} } catch (e) { return 'refused: ' + (e instanceof EvalError) } })()`
    assert.equal(sandbox.run(new Script(attempt), {}, 5000), 'refused: true', code)
  }
  const asked =
    "import('node:fs').then(() => platform.printed.push('in'), (e) => platform.printed.push(String(e.constructor('return 1')))); ''"
  sandbox.run(new Script(asked), {}, 5000)
  assert.doesNotMatch(sandbox.run(new Script('platform.printed.join()'), {}, 5000), /in/)
})

test('the process around the sandbox has no environment, files, processes or threads', () => {
  const attempts = {
    file: `require('node:fs').readFileSync('${folder}/secret.txt', 'utf8')`,
    environ: "require('node:fs').readFileSync('/proc/self/environ', 'utf8')",
    write: `require('node:fs').writeFileSync('${folder}/written.txt', '1')`,
    program: "require('node:child_process').execFileSync('/usr/bin/id').toString()",
    thread: "new (require('node:worker_threads').Worker)('1', { eval: true }).threadId",
    strings: "eval('1')",
  }
  const code = `const outcome = { env: Object.keys(process.env).join() }
    ${Object.entries(attempts)
      .map(
        ([name, each]) =>
          `try { outcome.${name} = String(${each}) } catch (e) { outcome.${name} = 'refused' }`,
      )
      .join('\n')}
    process.stdout.write(JSON.stringify(outcome))`
  const { stdout } = spawnSync(process.execPath, [...engineOptions(), '-e', code], {
    env: {},
    encoding: 'utf8',
  })
  const outcome = JSON.parse(stdout) as Record<string, string>
  const refused = Object.fromEntries(Object.keys(attempts).map((name) => [name, 'refused']))
  assert.deepEqual(outcome, { env: '', ...refused })
})

test('a stylesheet that takes all memory costs its engine and not this process', async () => {
  const megabyte = "fold-left(1 to 20, 'x', function($a, $b) {concat($a, $a)})"
  const growing = `let $m := ${megabyte} return count(sort((1 to 100000) ! upper-case(concat($m, .))))`
  const runner = await runnerFor(template(`<xsl:value-of select="${growing}"/>`))
  const small = await runnerFor(template('<xsl:value-of select="1 + 1"/>'))
  assert.match(textOf(await runner.run(input('<a/>'), { ...LIMITS, timeoutMs: 120_000 })), /too much memory/)
  assert.match(textOf(await small.run(input('<a/>'), LIMITS)), /2$/)
})

test('the engine ends when its parent is killed', { timeout: 60_000 }, async () => {
  const module = new URL('../engines/xslt/saxon/engine-process.js', import.meta.url).href
  const code = `import { EngineProcess } from '${module}'
    await new EngineProcess().ask({ kind: 'forget', key: '' }, 1000)
    process.stdout.write('ready')
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(parent.stdout!, 'data')
  const engines = childrenOf(parent.pid!)
  assert.equal(engines.length, 1)
  parent.kill('SIGKILL')
  while (isRunning(engines[0]!)) await new Promise((resolve) => setTimeout(resolve, 20))
})

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return stdout
    .split('\n')
    .map(Number)
    .filter((each) => each > 0)
}

/** A zombie process that was not reaped yet does not count as running. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

test('a regular expression that backtracks and a loop without end are stopped, and the next body is served', async () => {
  const text = template(
    `<xsl:choose><xsl:when test="/hang"><xsl:value-of select="matches('${'a'.repeat(40)}!', '^(a+)+$')"/></xsl:when><xsl:otherwise>fine</xsl:otherwise></xsl:choose>`,
  )
  const runner = await runnerFor(text)
  assert.match(textOf(await runner.run(input('<a/>'), LIMITS)), /fine/)
  assert.match(textOf(await runner.run(input('<hang/>'), { ...LIMITS, timeoutMs: 100 })), /takes too long/)
  assert.match(textOf(await runner.run(input('<a/>'), LIMITS)), /fine/)
})

function addressed(probe: string): string {
  return probe.replaceAll('FOLDER', folder).replaceAll('ORIGIN', origin)
}

/** Returns the result for a body as text, or the error of the compiler. */
function inSandbox(templates: string): string {
  try {
    return JSON.stringify(sandboxOf(templates).run('<a/>', INPUT, 10_000))
  } catch (problem) {
    return String(problem)
  }
}

function sandboxOf(templates: string): StylesheetSandbox {
  const text = stylesheet(templates, '3.0', `${NAMES} expand-text="yes"`)
  const compiled = compileInSandbox([['/stylesheet.xsl', text]], 20_000)
  if (compiled.kind !== 'compiled') throw new Error(JSON.stringify(compiled))
  return new StylesheetSandbox({ sef: compiled.sef, files: [] })
}

async function runnerFor(templates: string): Promise<SaxonRunner> {
  const text = stylesheet(templates, '3.0', `${NAMES} expand-text="yes"`)
  const main = { url: 'gateway:/stylesheet.xsl', base64: Buffer.from(text).toString('base64'), isXml: true }
  const sef = await compileSef({ main, imports: [], selection: null, version: '3.0', method: '' })
  return new SaxonRunner({ sef, files: [] })
}

function input(text: string) {
  return { text, isJson: false, params: [] }
}

function textOf(result: Awaited<ReturnType<SaxonRunner['run']>>): string {
  return result instanceof Uint8Array ? Buffer.from(result).toString() : JSON.stringify(result)
}
