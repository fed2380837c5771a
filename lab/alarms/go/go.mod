module kinds

go 1.22
