import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { scratchDir, until } from '../testing.js'
import { elasticsearchSkip, startElasticsearch } from './elasticsearch.js'
import { processState } from './process-state.js'

const skip = elasticsearchSkip
const THIS_FILE = fileURLToPath(import.meta.url)

/** With a directory as argument, this file is a program that starts a node there and reports its process ID. */
if (process.argv[2] === undefined) defineTests()
else process.send?.((await startElasticsearch({ dir: process.argv[2] })).pid)

function defineTests(): void {
  test('a node that cannot start says why', { skip }, async () => {
    const settings = { 'no.such.setting': true }
    const start = startElasticsearch({ dir: scratchDir(), settings })
    await assert.rejects(start, /unknown setting \[no\.such\.setting\]/)
  })

  test('a node ends with the process that started it', { skip }, async () => {
    const owner = spawn(process.execPath, [THIS_FILE, scratchDir()], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const [pid] = (await once(owner, 'message')) as [number]
    assert.notEqual(processState(pid), undefined)
    owner.kill('SIGKILL')
    await until(() => [undefined, 'Z'].includes(processState(pid)), 'the server ends', 300_000)
  })
}
