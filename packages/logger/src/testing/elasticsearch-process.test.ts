import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { scratchDir, until } from '../testing.js'
import { elasticsearchSkip, startElasticsearch } from './elasticsearch.js'
import { processState } from './process-state.js'

const skip = elasticsearchSkip
const THIS_FILE = fileURLToPath(import.meta.url)

/** With a directory as argument, this file is a program that starts a node there. */
if (process.argv[2] === undefined) defineTests()
else await startElasticsearch({ dir: process.argv[2] })

function defineTests(): void {
  test('a node that cannot start says why', { skip }, async () => {
    const settings = { 'no.such.setting': true }
    const start = startElasticsearch({ dir: scratchDir(), settings })
    await assert.rejects(start, /unknown setting \[no\.such\.setting\]/)
  })

  test('a node ends with the process that started it', { skip }, async () => {
    const dir = scratchDir()
    const owner = spawn(process.execPath, [THIS_FILE, dir], { stdio: ['ignore', 'inherit', 'inherit'] })
    const pidFile = join(dir, 'tmp', 'pid')
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '', 'it starts', 900_000)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    assert.notEqual(processState(pid), undefined)
    owner.kill('SIGKILL')
    await until(() => [undefined, 'Z'].includes(processState(pid)), 'the server ends', 300_000)
  })
}
