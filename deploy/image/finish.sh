#!/bin/sh
# Makes /opt/sluice what the image holds. The argument is where the base has Node.js.
set -eu
cd /opt/sluice
for folder in packages/*; do
  tar -xzf /packed/sluice-"${folder#packages/}"-[0-9]*.tgz -C "$folder" --strip-components 1
done
# The tarballs of a release ship some dependencies. The image has them in node_modules.
rm -rf packages/*/node_modules
# npm does not describe a tree whose manifests name what was left out.
npm pkg delete devDependencies peerDependencies --workspaces --include-workspace-root
npm sbom --sbom-format cyclonedx --cache /tmp/npm | node complete-sbom.mjs "$(tini-static --version)" > sbom.cdx.json

# They are a layer of their own.
rm -rf finish.sh complete-sbom.mjs node_modules

mkdir bin
ln -s "$1" bin/node
printf '#!/opt/sluice/bin/node\nimport("../packages/cli/bin/gw.mjs")\n' > bin/gw
chmod 755 bin/gw
cp "$(command -v tini-static)" bin/tini
strip-files .
