import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { imageBase, kubernetes } from '../../services/folders.mjs'
import { provideNamed } from '../../services/services.mjs'
import { ControlGroup } from './control-group.mjs'

/**
 * `npm run kubernetes -- COMMAND`: runs a command, or a shell, in the network of a one-node Kubernetes cluster with the
 * image of this repository, and exits with its exit code. KUBECONFIG and SLUICE_CLUSTER_IMAGE are set.
 * SLUICE_IMAGE_ARCHIVE names a `podman save` file to use instead of building the image. The cluster ends with the command.
 */
const IMAGE = 'localhost/sluice:cluster'
const MAIN = fileURLToPath(new URL('main.mjs', import.meta.url))
const NAMESPACES = ['--mount', '--net', '--pid', '--ipc', '--mount-proc', '--kill-child', '--fork']

process.env.SLUICE_TEST_IMAGE = '1'
const problems = provideNamed(['isolated-vm', 'containers', 'kubernetes'])
if (process.env.SLUICE_NO_CONTAINERS) problems.push(process.env.SLUICE_NO_CONTAINERS)
if (problems.length > 0) {
  console.error(`no cluster can be run here: ${problems.join('; ')}`)
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-cluster-'))
const group = new ControlGroup(basename(folder))
let code = 1
try {
  code = await runInCluster(process.argv.slice(2))
} finally {
  await group.remove()
  rmSync(folder, { recursive: true, force: true })
}
const rest = leftovers()
if (rest.length > 0) console.error(`the cluster has left behind: ${rest.join(', ')}`)
process.exit(rest.length > 0 ? 1 : code)

async function runInCluster(command) {
  const image = await provideImage(join(folder, 'image.tar'))
  group.create()
  const inside = [folder, kubernetes.path, group.path, ...(command.length > 0 ? command : ['sh'])]
  // A shell is the first process, because it reaps orphaned processes.
  const first = ['sh', '-c', '"$@"; exit $?', 'sh', process.execPath, MAIN, ...inside]
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...NAMESPACES, ...first], {
    stdio: 'inherit',
    env: { ...process.env, SLUICE_CLUSTER_IMAGE: image },
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill('SIGKILL'))
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

/** Builds or loads the image and returns its file. */
async function provideImage(file) {
  const { SLUICE_IMAGE_ARCHIVE } = process.env
  if (SLUICE_IMAGE_ARCHIVE) copyFileSync(SLUICE_IMAGE_ARCHIVE, file)
  else await saveImage(file)
  const { stdout } = spawnSync('tar', ['-xOf', file, 'manifest.json'], { encoding: 'utf8' })
  return JSON.parse(stdout)[0].RepoTags[0]
}

async function saveImage(file) {
  const { Podman } = await import('../../../packages/cli/dist/testing/podman.js')
  const podman = new Podman(imageBase.path)
  console.log('building the image')
  podman.build(IMAGE)
  podman.run('save', '--quiet', `--output=${file}`, IMAGE)
}

/** Returns processes and mounts that the cluster has left behind. */
function leftovers() {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const places = [...processes.map((pid) => `/proc/${pid}/cmdline`), '/proc/mounts']
  return places.filter((place) => textOf(place).includes(folder))
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}
