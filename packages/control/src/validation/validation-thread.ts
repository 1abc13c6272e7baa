import { parentPort, workerData } from 'node:worker_threads'
import { lazyCatalog } from '@sluice/policies/catalog'
import { validateBundle } from './document-validation.js'
import type { ValidationRequest } from './validation.js'

// Entry file of the thread that checks one document.
parentPort!.postMessage(await validateBundle(workerData as ValidationRequest, lazyCatalog()))
