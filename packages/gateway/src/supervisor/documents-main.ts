import { catalog } from '@sluice/policies'
import { checkDocuments } from './document-checks.js'

// The file that the supervisor's thread for documents runs.
checkDocuments(catalog)
