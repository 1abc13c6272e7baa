import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chunkDigest } from '@sluice/control-client'
import { testFolder } from '../testing/test-controller.js'
import { FolderStore } from './folder-store.js'
import { Journal } from './journal.js'

const PROGRAM = fileURLToPath(new URL('./testing/appending-program.js', import.meta.url))

function eventOf(i: number) {
  const head = { id: `${i}`, at: '2026-11-30T00:00:00.000Z', actor: 'tést', address: null, controller: 'a' }
  return { ...head, type: 'token.revoked', token: `token ${i}` } as const
}

test('a journal that ends at any byte has all complete entries and takes new ones', async (t) => {
  const folder = testFolder(t)
  const [whole, part] = [join(folder, 'whole'), join(folder, 'part')]
  const journal = await Journal.open(whole)
  const ends = [0]
  for (let i = 1; i <= 3; i++) {
    await journal.append(eventOf(i))
    ends.push(statSync(whole).size)
  }
  await journal.close()
  for (let bytes = 0; bytes <= ends.at(-1)!; bytes++) {
    copyFileSync(whole, part)
    truncateSync(part, bytes)
    const cut = await Journal.open(part)
    const complete = ends.filter((end) => end <= bytes).length - 1
    assert.equal(cut.entries.length, complete, `at byte ${bytes}`)
    assert.equal(await cut.append(eventOf(9)), complete + 1)
    await cut.close()
    const again = await Journal.open(part)
    assert.equal(again.entries.length, complete + 1, `at byte ${bytes}`)
    await again.close()
  }
})

test('a journal with garbage at its end is repaired; with a damaged, missing or edited line it is refused', async (t) => {
  const path = join(testFolder(t), 'journal')
  const journal = await Journal.open(path)
  for (let i = 1; i <= 3; i++) await journal.append(eventOf(i))
  await journal.close()
  const text = readFileSync(path, 'utf8')
  appendFileSync(path, Buffer.alloc(100))
  const repaired = await Journal.open(path)
  assert.equal(repaired.entries.length, 3)
  await repaired.close()
  assert.equal(readFileSync(path, 'utf8'), text)
  const lines = text.split('\n')
  const damaged = [
    text.replace('token 1', 'token 7'),
    text.replace('{"sum"', '{"sun"').replace('"entry"', '"entrz"').replace('token 1', 'tokem 1'),
    [lines[0], ...lines.slice(2)].join('\n') + text,
  ]
  for (const content of damaged) {
    writeFileSync(path, content)
    await assert.rejects(Journal.open(path), /line \d of .* is damaged; restore the file from a backup/)
  }
})

test('a damaged chunk counts as absent', async (t) => {
  const folder = testFolder(t)
  const store = await FolderStore.open(folder)
  t.after(() => store.close())
  const digest = chunkDigest(Buffer.from('a'))
  await store.putChunks(new Map([[digest, Buffer.from('b')]]))
  assert.equal(await store.getChunk(digest), null)
})

test('a folder is open in one process at a time, and a killed one does not lock it', async (t) => {
  const folder = testFolder(t)
  const first = await FolderStore.open(folder)
  await assert.rejects(FolderStore.open(folder), /another controller uses the folder/)
  await first.close()
  const program = appendIn(t, [process.execPath, PROGRAM, folder])
  await program.line(/^open/)
  await assert.rejects(FolderStore.open(folder), /another controller uses the folder/)
  program.process.kill('SIGKILL')
  await program.exited
  const results = await Promise.allSettled([FolderStore.open(folder), FolderStore.open(folder)])
  const opened = results.filter((result) => result.status === 'fulfilled')
  assert.equal(opened.length, 1)
  await opened[0]!.value.close()
})

test('a process killed in the middle of writes loses no acknowledged entry', async (t) => {
  const folder = testFolder(t)
  let known = 0
  for (let round = 0; round < 8; round++) {
    const program = appendIn(t, [process.execPath, PROGRAM, folder])
    await program.line(new RegExp(`^${known + 1 + round * 3}$`, 'm'))
    program.process.kill('SIGKILL')
    await program.exited
    const acknowledged = Number(/(\d+)\n(?:\d*)$/.exec(program.output())![1])
    const store = await FolderStore.open(folder)
    const entries = await store.entriesAfter(0, 1_000_000)
    // An entry may be on the disk although its number was not printed yet.
    assert.ok(entries.length >= acknowledged, `${entries.length} of ${acknowledged}`)
    assert.ok(entries.length <= acknowledged + 2, `${entries.length} of ${acknowledged}`)
    const chunks = entries.map((entry) => ('sha256' in entry ? entry.sha256 : ''))
    assert.deepEqual(await store.missingChunks(chunks), [])
    known = entries.length
    await store.close()
  }
})

test('a full disk fails an append and changes nothing', async (t) => {
  const folder = testFolder(t)
  // The limit of file sizes, in units of 512 bytes, fails a write like a full disk: after a part of it.
  const limited = `ulimit -f 20; exec "$0" "$@"`
  const program = appendIn(t, ['sh', '-c', limited, process.execPath, PROGRAM, folder])
  await program.exited
  const [, code, count] = /failed (\w+) with (\d+)/.exec(program.output())!
  assert.equal(code, 'EFBIG')
  const acknowledged = Number(/(\d+)\nfailed/.exec(program.output())![1])
  assert.equal(Number(count), acknowledged)
  const store = await FolderStore.open(folder)
  t.after(() => store.close())
  assert.equal((await store.entriesAfter(0, 1000)).length, acknowledged)
  assert.equal(await store.append(eventOf(1), acknowledged), acknowledged + 1)
})

function appendIn(t: TestContext, [command, ...args]: readonly string[]) {
  const child = spawn(command!, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  child.stderr.on('data', (data: Buffer) => {
    text += data.toString()
  })
  const exited = once(child, 'close')
  const line = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(text)) await once(child.stderr, 'data')
  }
  return { process: child, exited, line, output: () => text }
}
