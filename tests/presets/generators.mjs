// Asks the generators' own code about the paths of a tree: node generators.mjs GENERATOR NODE_MODULES TREE.
// Prints path, slug and, where the generator tells it, the instant; one line a file.
import { createRequire } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

const [generator, modules, tree] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(modules, path)).href);
const say = (path, slug, date) => console.log([path, slug, date ? date.toISOString().replace('.000Z', 'Z') : ''].join('\t'));

function posts(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(md|mdx|markdown)$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)));
}

const generators = {
  // As astro/dist/content/utils.js: each part of the path without extension, by github-slugger.
  async astro() {
    const { slug } = await load('github-slugger/index.js');
    for (const path of posts(tree)) {
      const parts = path.replace(/\.[^.]+$/, '').split('/');
      say(path, parts.map((part) => slug(part)).join('/').replace(/\/index$/, ''));
    }
  },

  async characters() {
    const { slug } = await load('github-slugger/index.js');
    for (let code = 0x20; code < 0x10000; code++) {
      if (code >= 0xd800 && code < 0xe000) continue;
      if (code === 0x2028 || code === 0x2029 || code === 0x85) continue;
      console.log(`${code.toString(16)}\t${slug(`a${String.fromCharCode(code)}b`)}`);
    }
  },

  // The blog plugin takes paths below its folder, of which each language has one.
  async docusaurus() {
    const require = createRequire(join(modules, 'x.js'));
    const { parseBlogFileName } = require('@docusaurus/plugin-content-blog/lib/blogUtils.js');
    const frontMatter = require('gray-matter');
    for (const path of posts(tree)) {
      const below = path.replace(/^(blog|i18n\/[^/]+\/docusaurus-plugin-content-blog)\//, '');
      const { slug, date } = parseBlogFileName(below);
      const { data } = frontMatter(readFileSync(join(tree, path), 'utf8'));
      const written = typeof data.date === 'string' ? new Date(`${data.date}Z`) : data.date;
      say(path, slug.replace(/^\/|\/$/g, ''), written ?? date);
    }
  },

  async eleventy() {
    const { default: Eleventy } = await load('@11ty/eleventy/src/Eleventy.js');
    process.chdir(tree);
    const eleventy = new Eleventy('.', undefined, {
      quietMode: true,
      config(config) {
        config.dataFilterSelectors.add('page');
        config.setOutputDirectory('/nowhere');
      },
    });
    for (const { data, inputPath } of await eleventy.toJSON()) {
      const undated = /no-date/.test(inputPath);
      say(inputPath.replace(/^\.\//, ''), data.page.fileSlug, undated ? undefined : data.page.date);
    }
  },
};

await generators[generator]();
