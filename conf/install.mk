# make check, make install

check:
	@sh $(top)/conf/check.sh
