import { spawn, spawnSync } from 'node:child_process'
import { watch } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * `npm run dev`: runs the demo, and rebuilds and restarts it when a source file changes. A build that fails leaves the
 * running gateway in place. The arguments are those of `npm start`.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
/** Editors write a file in several steps; one build follows the last of them. */
const QUIET_MS = 200
let demo = startDemo()
let timer
let isEnding = false

watch(`${root}packages`, { recursive: true }, (_event, file) => {
  if (!/\/src\/.*(?<!\.test)\.(ts|json|mjs)$/.test(file ?? '')) return
  clearTimeout(timer)
  timer = setTimeout(rebuild, QUIET_MS)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end)

function startDemo() {
  const child = spawn(process.execPath, ['tools/start.mjs', ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
    detached: true, // Ctrl-C reaches this process only, which then stops the demo
  })
  child.once('exit', (code) => {
    if (isEnding || code !== 0) process.exit(code ?? 1)
  })
  return child
}

async function rebuild() {
  if (isEnding) return
  console.log('\nsources changed: building')
  const { status } = spawnSync(process.execPath, ['tools/prepare.mjs'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) return console.log('the build failed; the previous build keeps running')
  const ended = new Promise((resolve) => demo.once('exit', resolve))
  demo.kill('SIGTERM')
  await ended
  if (!isEnding) demo = startDemo()
}

function end() {
  isEnding = true
  clearTimeout(timer)
  demo.kill('SIGTERM')
}
