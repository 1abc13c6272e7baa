import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { gatewayObjects } from '../../packages/cli/dist/kubernetes/objects/gateway-objects.js'
import { loadDocument } from '../../packages/config/dist/index.js'
import { catalog } from '../../packages/policies/dist/index.js'
import { ALL_SETTINGS, controllers, documents } from './cases.mjs'
import { defaultValues, fileOf, generatedFiles } from './generated-files.mjs'
import { objectMistakes } from './object-schemas.mjs'

const files = generatedFiles()

test('the files of the chart and the manifests are up to date', () => {
  for (const [path, text] of files) {
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(fileOf(path), text)
    else assert.equal(readFileSync(fileOf(path), 'utf8'), text, path)
  }
  for (const folder of ['kubernetes', 'helm/sluice/files']) {
    for (const name of readdirSync(fileOf(folder))) {
      const isMade = /\.(yaml|json)$/.test(name)
      assert.equal(files.has(`${folder}/${name}`), isMade, `${folder}/${name}`)
    }
  }
})

test('the document of the chart is sound', () => {
  const source = { text: defaultValues().document, name: 'values.yaml' }
  const result = loadDocument(source, { catalog, env: {} })
  assert.deepEqual(result.ok ? result.warnings : result.diagnostics, [])
})

test('the image and the chart are of the version of the packages', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const chart = parse(readFileSync(fileOf('helm/sluice/Chart.yaml'), 'utf8'))
  assert.deepEqual([chart.version, chart.appVersion], [version, version])
  const label = /^ARG VERSION=(.*)$/m.exec(readFileSync(fileOf('image/Containerfile'), 'utf8'))
  assert.equal(label?.[1], version)
})

test('Kubernetes knows every field of the manifests', () => {
  const manifests = [...files].filter(([path]) => path.startsWith('kubernetes/'))
  assert.ok(manifests.length >= 4)
  for (const [path, text] of manifests) {
    for (const part of parseAllDocuments(text)) assert.deepEqual(objectMistakes(part.toJS()), [], path)
  }
})

test('Kubernetes knows every field of the objects that documents make', () => {
  for (const [name, document] of Object.entries(documents)) {
    const controlled = { ...ALL_SETTINGS, control: controllers.certificate, vaultAudience: 'vault' }
    const kinds = [ALL_SETTINGS, controlled].flatMap((settings) => gatewayObjects(document, settings).objects)
    for (const object of kinds) assert.deepEqual(objectMistakes(JSON.parse(JSON.stringify(object))), [], name)
  }
})

test('a field that Kubernetes does not know is found, as is a value that it does not take', () => {
  const [deployment] = gatewayObjects(documents.plain, ALL_SETTINGS).objects.filter(
    (one) => one.kind === 'Deployment',
  )
  const broken = structuredClone(deployment)
  broken.spec.template.spec.containers[0].readinessProbe.periodSecond = 1
  broken.spec.revisionHistoryLimit = 'five'
  delete broken.spec.selector
  const mistakes = objectMistakes(broken).join('\n')
  assert.match(mistakes, /readinessProbe must NOT have additional properties periodSecond/)
  assert.match(mistakes, /revisionHistoryLimit must be integer/)
  assert.match(mistakes, /must have required property 'selector'/)
})
