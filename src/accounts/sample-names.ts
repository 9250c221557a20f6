/** Invented words for the sample data. Data only. */

export const territories = ['North America', 'Western Europe', 'Nordics', 'Asia Pacific', 'Middle East']

export const tags = [
  'Key account',
  'Renewal risk',
  'Upsell',
  'Partner-led',
  'Public sector',
  'Pilot',
  'Multi-year',
  'Reference customer',
]

export const owners = ['Maya Lindholm', 'Jonas Aldana', 'Priya Venkat', 'Tom Okafor', 'Elise Moreau']

export const companies = [
  'Alder & Finch',
  'Blewmere Logistics',
  'Cobaltry Machines',
  'Dunmore Foods',
  'Eastgate Clinics',
  'Fjordline Energy',
  'Granite Peak Mining',
  'Harbor Mutual',
  'Ironbridge Steel',
  'Juniper Textiles',
  'Kestrel Aviation',
  'Larkspur Hotels',
  'Meridian Labs',
  'Northwind Dairy',
  'Oakhurst Schools',
  'Palisade Security',
  'Quarry Lane Builders',
  'Redwood Insurance',
  'Silverline Transit',
  'Tidewater Shipping',
  'Umbra Optics',
  'Vantagrove Media',
  'Westmark Retail',
  'Yarrow Pharma',
  'Zephyr Wind',
  'Amberfield Farms',
  'Brightwell Water',
  'Cascade Telecom',
  'Drystone Quarries',
  'Elmwood Furniture',
  'Foxglove Cosmetics',
  'Greystone Capital',
  'Hollowfell Brewing',
  'Inlet Seafood',
  'Jasper Analytics',
  'Kingfisher Travel',
  'Lumen Lighting',
  'Maplewood Homes',
  'Nimbry Hosting',
  'Orchard Lane Grocers',
]

export const cities = [
  'Portland',
  'Leeds',
  'Bergen',
  'Osaka',
  'Lyon',
  'Denver',
  'Pune',
  'Kuwait City',
  'Hamburg',
  'Toronto',
]

export const firstNames = [
  'Ada',
  'Bruno',
  'Carla',
  'Dmitri',
  'Esther',
  'Farid',
  'Greta',
  'Hugo',
  'Ines',
  'Jarek',
  'Keiko',
  'Liam',
  'Mona',
  'Nils',
  'Olga',
  'Pablo',
]

export const lastNames = [
  'Abbott',
  'Brandt',
  'Castellan',
  'Devereux',
  'Ekström',
  'Fontaine',
  'Gupta',
  'Hartley',
  'Ito',
  'Jansen',
  'Kowalczyk',
  'Lefevre',
  'Mbeki',
  'Novak',
  'Oduya',
  'Petrov',
  'Quiroga',
  'Rossi',
  'Sato',
  'Thorne',
]

export const jobTitles = [
  'Head of Procurement',
  'IT Director',
  'Operations Manager',
  'Chief Financial Officer',
  'Plant Manager',
  'Office Manager',
  'Head of Sales',
]

export const products: readonly {
  readonly name: string
  readonly code: string
  readonly category: string
  readonly type: string
  readonly usd: number
}[] = [
  ...[
    'Edge Gateway',
    'Rack Sensor',
    'Badge Reader',
    'Thermal Camera',
    'Field Tablet',
    'Dock Scanner',
    'Line Controller',
    'Signal Repeater',
    'Power Meter',
    'Label Printer',
    'Access Point',
    'Control Panel',
    'Flow Meter',
    'Vibration Probe',
    'Backup Battery',
  ].map((name, index) => ({
    name,
    code: `HW-${100 + index}`,
    category: 'Hardware',
    type: 'Unit',
    usd: 49 + index * 85.5,
  })),
  ...[
    'Fleet Planner',
    'Route Optimizer',
    'Shift Scheduler',
    'Asset Ledger',
    'Quality Desk',
    'Energy Monitor',
    'Visitor Log',
    'Invoice Match',
    'Stock Forecast',
    'Service Portal',
    'Audit Trail',
    'Field Forms',
    'Price Guide',
    'Data Vault',
    'Report Studio',
  ].map((name, index) => ({
    name,
    code: `SW-${200 + index}`,
    category: 'Software',
    type: 'Subscription',
    usd: 19 + index * 40,
  })),
]

export const dealSubjects = [
  'fleet renewal',
  'pilot rollout',
  'annual licence',
  'second site',
  'support contract',
  'sensor upgrade',
  'headquarters fit-out',
  'three-year plan',
  'spare parts',
  'training package',
  'warehouse extension',
  'replacement programme',
]

/** What one unit is worth in US dollars. */
export const rates: readonly (readonly [code: string, rate: string])[] = [
  ['EUR', '1.08'],
  ['GBP', '1.27'],
  ['JPY', '0.0067'],
  ['INR', '0.012'],
  ['KWD', '3.25'],
]

/** What one unit of others is worth in dollars: none is used, but one may be the base currency. */
const otherRates: { readonly [code: string]: number } = {
  ...{
    USD: 1,
    CHF: 1.13,
    SEK: 0.095,
    NOK: 0.094,
    DKK: 0.145,
    PLN: 0.25,
    CZK: 0.043,
    HUF: 0.0027,
    RON: 0.217,
  },
  ...{
    TRY: 0.03,
    CAD: 0.73,
    AUD: 0.66,
    NZD: 0.6,
    CNY: 0.14,
    HKD: 0.128,
    SGD: 0.75,
    KRW: 0.00073,
    THB: 0.029,
  },
  ...{ BRL: 0.18, MXN: 0.054, ZAR: 0.055, AED: 0.272, SAR: 0.267, ILS: 0.27, NGN: 0.00065 },
}

/**
 * What the sample's currencies are worth in a base currency, to six digits. Empty where that is not known: no
 * rate is ever assumed.
 */
export function ratesIn(base: string): (readonly [code: string, rate: number])[] {
  const all = { ...otherRates, ...Object.fromEntries(rates.map(([code, rate]) => [code, Number(rate)])) }
  const unit = all[base]
  if (!unit) return []
  const others = ['USD', ...rates.map(([code]) => code)].filter(code => code !== base)
  return others.map(code => [code, Number((all[code]! / unit).toPrecision(6))])
}

/** What activities are called, by kind. */
export const activitySubjects: { readonly [kind: string]: readonly string[] } = {
  Call: ['Introductory call', 'Follow-up call', 'Call about the offer', 'Call back', 'Ask about the budget'],
  Meeting: ['Product demonstration', 'Site visit', 'Review of the offer', 'Kick-off', 'Contract talks'],
  Task: ['Prepare the offer', 'Check delivery dates', 'Update the forecast', 'Send the contract'],
  'E-mail': ['Offer sent', 'Answer to questions', 'Documents sent', 'Reminder of the offer'],
  Note: ['What they need', 'Who decides', 'After the meeting', 'About the competition'],
}

export const outcomes = ['Interested', 'Left a message', 'Wants an offer', 'Needs time', 'Agreed']

export const noteTexts = [
  'The plant manager decides, and asks for two references of our size.',
  'They compare us with their present supplier. Delivery before the end of the quarter matters most.',
  'The budget is approved for this year. Legal wants to see the contract first.',
  'They liked the demonstration. Training on site has to be part of the offer.',
  'Our contact leaves in spring; the successor should be at the next meeting.',
  'Price is not the point: they want one supplier for both sites.',
]
