-- The words of the reference: stems, names of terms and concepts, the vocabulary.

create or replace function rules._plain(words text)
returns text
language sql stable strict parallel safe
return trim(
  regexp_replace(
    lower(public.unaccent('public.unaccent'::regdictionary, words)), '[^[:alnum:]]+', ' ', 'g'
  )
);

comment on function rules._plain(text) is
'Words in lower case, without accents and punctuation, one space between them.';

create or replace function rules._stems(words text)
returns text
language sql stable strict parallel safe
begin atomic
  select coalesce(string_agg(found.lexeme, ' ' order by place.at), '')
  from
    unnest(to_tsvector('public.sightline', rules._plain(words))) as found (lexeme, positions, weights),
    lateral unnest(found.positions) as place (at);
end;

comment on function rules._stems(text) is
'The stems of some words, in order, without those that carry no meaning: line sight for Lines of Sight.';

create or replace function rules.learn(words text)
returns void
language sql volatile
begin atomic
  insert into public.word (word, stem, rules)
  select
    spelled.word,
    rules._stems(spelled.word),
    0
  from
    (
      select distinct typed.word
      from regexp_split_to_table(rules._plain(words), ' ') as typed (word)
    ) as spelled
  where length(spelled.word) > 1 and rules._stems(spelled.word) <> '' and rules._stems(spelled.word) not like '% %'
  on conflict (word) do nothing;
end;

comment on function rules.learn(text) is
'Take the words of a text into the vocabulary, so that they are searched for as they are written.';

create or replace function rules.refresh()
returns void
language plpgsql volatile
as $$
begin
  update public.synonym
  set stems = rules._stems(phrase)
  where word_group is not null;
  delete from public.synonym
  where word_group is null;
  insert into public.synonym (phrase, stems, term_id, concept, rule_id)
  select
    named.phrase,
    rules._stems(named.phrase),
    named.term_id,
    named.concept,
    named.rule_id
  from (
    select
      alias.phrase,
      term.id as term_id,
      null as concept,
      null::bigint as rule_id
    from public.term, lateral unnest(array_prepend(term.name, term.aliases)) as alias (phrase)
    union
    select
      alias.phrase,
      null,
      concept.code,
      null
    from public.concept, lateral unnest(array_prepend(concept.title, concept.aliases)) as alias (phrase)
    union
    select
      said.phrase,
      null,
      null,
      rule.id
    from public.rule, lateral unnest(rule.asked) as said (phrase)
  ) as named
  where rules._stems(named.phrase) <> ''
  order by named.phrase, named.term_id, named.concept, named.rule_id;

  delete from public.word;
  insert into public.word (word, stem, rules)
  select
    spelled.word,
    stemmed.stem,
    coalesce(used.ndoc, 0)
  from
    ts_stat(
      'select to_tsvector(''simple'', rules._plain(title || '' '' || digest)) from public.rule
       union all select to_tsvector(''simple'', rules._plain(phrase)) from public.synonym
       union all select to_tsvector(''simple'', rules._plain(chart_words)) from public.rule
       union all select to_tsvector(''simple'', rules._plain(effect)) from public.erratum
       union all select to_tsvector(''simple'', rules._plain(text)) from public.rule_text'
    ) as spelled (word, ndoc, nentry),
    lateral (select rules._stems(spelled.word) as stem) as stemmed
    left join ts_stat('select document from public.rule') as used (stem, ndoc, nentry)
      on stemmed.stem = used.stem
  where stemmed.stem <> '' and stemmed.stem not like '% %' and length(spelled.word) > 1;

  -- so that the first search after this already has a good plan
  analyze public.rule, public.rule_text, public.rule_term, public.concept_rule, public.synonym, public.word;
end;
$$;

comment on function rules.refresh() is
'Make the synonyms and the vocabulary anew, after rules, terms, concepts or texts have changed.';
