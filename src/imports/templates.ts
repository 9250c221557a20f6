/**
 * The columns that other systems write in their exports, and what each is here. For guesses only. No system
 * publishes a full list: these are the names of default fields in English. Exports in other languages have
 * other names.
 */
import { google, linkedin, outlook } from './template-address-books.ts'
import { atomic, espocrm, freshsales, twenty, zoho } from './template-crms.ts'
import { hubspot } from './template-hubspot.ts'
import { pipedrive } from './template-pipedrive.ts'
import { salesforce } from './template-salesforce.ts'
import { shopify, woocommerce } from './template-shops.ts'

/** Column → target, as `targetsOf` names it; null: it has no field here. */
export type Template = { readonly [column: string]: string | null }

/** Resource → its columns. */
export type Templates = { readonly [resource: string]: Template }

/** The first of those that have most of the columns of a file is meant. */
export const templates = {
  ...{ pipedrive, hubspot, salesforce, zoho, freshsales, atomic, twenty, espocrm },
  ...{ google, outlook, linkedin, woocommerce, shopify },
} satisfies { readonly [system: string]: Templates }

export type System = keyof typeof templates
