import { MemoryStore } from '@sluice/core'
import { testConformance } from './testing/conformance.js'

testConformance('in memory', async () => new MemoryStore())
