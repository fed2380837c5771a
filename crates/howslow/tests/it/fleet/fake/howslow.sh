[ "$1" = --version ] && { echo "howslow 0.0.9"; exit 0; }
while [ "$1" != -o ]; do shift; done
cp @/document-$NAME.json "$2"
